#pragma once
/// \file product_shapes.h: what the shape of a matrix product leaves of a device's peak: tiles, waves and alignment.
///
/// Answers shares of the peak, 0 to 1. Model: a product is cut into output tiles of one size; waves of as many tiles as
/// there are multiprocessors follow each other, and the last one and tiles over the edge are partly idle; the inner
/// dimension may be split, which makes more tiles and sums to add up. Dimensions that do not align with the tensor
/// cores' loads run slower. Source: NVIDIA's matrix-multiplication guide; the numbers are data of the device
/// (models/calibrations/device-*.json, "shapes"; a device that states none has the generic GPU's).
/// Checked against: tests/unit/core/cost/product_shapes_test.cpp, by hand.

#include <cstdint>
#include <string>
#include <vector>

#include "core/sharding/op_work.h"

namespace plumbline {

/// Where a table of shapes is from. `kind`: "fitted", "measured" or "assumed".
struct ShapeSource {
  std::string kind;
  std::string source;
};

/// An output tile that vendor libraries offer, and its share of the largest tile's rate.
struct ProductTile {
  std::int64_t m = 1;
  std::int64_t n = 1;
  double rate = 1;
};
/// Into how many parts the inner dimension may be split, how long a part is at least, and the rate that is left.
struct DepthSplits {
  std::vector<std::int64_t> parts;
  std::int64_t shortest_depth = 1;
  double rate = 1;
};
/// Of a dimension that `multiple` divides.
struct Alignment {
  std::int64_t multiple = 1;
  double factor = 1;
};

/// Alignments: the first whose multiple divides a dimension holds; the last one is of 1.
struct ProductShapes {
  std::vector<ProductTile> tiles;
  ShapeSource tiles_source;
  DepthSplits splits;
  ShapeSource splits_source;
  std::vector<Alignment> alignments;  ///< of a product's output and inner dimension
  ShapeSource alignments_source;
  std::vector<Alignment> head_alignments;  ///< of the head dimension of unfused attention
  ShapeSource head_alignments_source;
};

/// Into how many parts a library may split the inner dimension: as many as the device lists, or as many powers of two
/// as leave each the shortest depth, until every multiprocessor has one.
enum class DepthParts : std::uint8_t { listed, any };

/// Share of the tensor cores' peak that tiles and waves leave to an m x n product on `multiprocessors`: the best of
/// the tiles and splits.
[[nodiscard]] double tile_efficiency(const MatrixProduct& product, std::int32_t multiprocessors,
                                     const ProductShapes& shapes, DepthParts parts = DepthParts::listed);
/// Factor for dimensions that do not align with the tensor cores' loads.
[[nodiscard]] double alignment_factor(const MatrixProduct& product, const ProductShapes& shapes);
/// The same for unfused attention, by the dimension of a head.
[[nodiscard]] double head_alignment_factor(std::int64_t head_dim, const ProductShapes& shapes);

}  // namespace plumbline
