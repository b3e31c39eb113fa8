#include "core/io/product_shapes_json.h"

#include "core/base/errors.h"
#include "core/io/calibration_json.h"
#include "core/io/json_array.h"

namespace plumbline {
namespace {

/// Beyond it a dimension is no tile's.
constexpr std::int64_t largest_dimension = 1'000'000;
constexpr double smallest_share = 0.001;

ShapeSource source_from_json(JsonObject& object) {
  ShapeSource source;
  source.kind = coefficient_kind_from_json(object.at("kind"));
  source.source = object.at("source").string();
  return source;
}

Json with_source(Json::Object object, const ShapeSource& source) {
  object.emplace_back("kind", source.kind);
  object.emplace_back("source", source.source);
  return object;
}

std::vector<JsonPlace> at_least_one(const JsonPlace& list) {
  std::vector<JsonPlace> all = list.elements();
  if (all.empty()) throw InputError({list.where(), "is empty", "at least one", ""});
  return all;
}

std::vector<ProductTile> tiles_from_json(const JsonPlace& place, ShapeSource& source) {
  JsonObject object(place);
  std::vector<ProductTile> tiles;
  for (const JsonPlace& one : at_least_one(object.at("values"))) {
    JsonObject tile(one);
    tiles.push_back({tile.at("m").integer(1, largest_dimension), tile.at("n").integer(1, largest_dimension),
                     tile.at("rate").number(smallest_share, 1)});
    tile.finish();
  }
  source = source_from_json(object);
  object.finish();
  return tiles;
}

DepthSplits splits_from_json(const JsonPlace& place, ShapeSource& source) {
  JsonObject object(place);
  DepthSplits splits;
  for (const JsonPlace& part : object.at("parts").elements())
    splits.parts.push_back(part.integer(2, largest_dimension));
  splits.shortest_depth = object.at("shortest_depth").integer(1, largest_dimension);
  splits.rate = object.at("rate").number(smallest_share, 1);
  source = source_from_json(object);
  object.finish();
  return splits;
}

std::vector<Alignment> alignments_from_json(const JsonPlace& place, ShapeSource& source) {
  JsonObject object(place);
  std::vector<Alignment> alignments;
  const JsonPlace values = object.at("values");
  for (const JsonPlace& one : at_least_one(values)) {
    JsonObject row(one);
    const JsonPlace multiple = row.at("multiple");
    alignments.push_back({multiple.integer(1, largest_dimension), row.at("factor").number(smallest_share, 1)});
    row.finish();
    if (alignments.size() > 1 && alignments.back().multiple >= alignments[alignments.size() - 2].multiple)
      throw InputError({multiple.where(), std::to_string(alignments.back().multiple) + " does not fall",
                        "less than " + std::to_string(alignments[alignments.size() - 2].multiple), ""});
  }
  if (alignments.back().multiple != 1)
    throw InputError({values.where(), "ends with a multiple of " + std::to_string(alignments.back().multiple),
                      "1, which divides every dimension", ""});
  source = source_from_json(object);
  object.finish();
  return alignments;
}

Json alignments_json(const std::vector<Alignment>& alignments, const ShapeSource& source) {
  const auto alignment_json = [](const Alignment& a) {
    return Json::Object{{"multiple", a.multiple}, {"factor", a.factor}};
  };
  return with_source(Json::Object{{"values", json_array(alignments, alignment_json)}}, source);
}

}  // namespace

ProductShapes product_shapes_from_json(const JsonPlace& place) {
  JsonObject object(place);
  ProductShapes shapes;
  shapes.tiles = tiles_from_json(object.at("tiles"), shapes.tiles_source);
  shapes.splits = splits_from_json(object.at("splits"), shapes.splits_source);
  shapes.alignments = alignments_from_json(object.at("alignments"), shapes.alignments_source);
  shapes.head_alignments = alignments_from_json(object.at("head_alignments"), shapes.head_alignments_source);
  object.finish();
  return shapes;
}

Json product_shapes_json(const ProductShapes& shapes) {
  const auto tile_json = [](const ProductTile& tile) {
    return Json::Object{{"m", tile.m}, {"n", tile.n}, {"rate", tile.rate}};
  };
  return Json::Object{
      {"tiles", with_source(Json::Object{{"values", json_array(shapes.tiles, tile_json)}}, shapes.tiles_source)},
      {"splits", with_source(Json::Object{{"parts", json_array(shapes.splits.parts)},
                                          {"shortest_depth", shapes.splits.shortest_depth},
                                          {"rate", shapes.splits.rate}},
                             shapes.splits_source)},
      {"alignments", alignments_json(shapes.alignments, shapes.alignments_source)},
      {"head_alignments", alignments_json(shapes.head_alignments, shapes.head_alignments_source)}};
}

}  // namespace plumbline
