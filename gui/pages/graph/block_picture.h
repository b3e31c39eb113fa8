#pragma once
/// \file block_picture.h: a block of the network as nodes in layers: what each operator computes, moves and holds.
///
/// Answers: of every operator on one rank and for one micro-batch, FLOPs of forward and backward, bytes of what it
/// writes and of its parameters, and how these are divided over ranks; and where it lies.
/// Model: FLOPs and bytes are those of core/sharding (op_work.h, shard.h). An operator's layer is the longest way to
/// it; within a layer operators lie by the mean place of what they read, four sweeps down and up.
/// Source of the layout: Sugiyama, Tagawa, Toda, IEEE Trans. SMC 11(2), 1981. Not modelled: fusion.
/// Checked against: tests/gui/pages/graph/block_picture_test.cpp (sums of core/sharding's block_flops).

#include <string>
#include <vector>

#include "planner/present/table.h"
#include "planner/session/estimate.h"

namespace plumbline::gui {

struct GraphNode {
  std::string name;
  std::string kind;
  Flops forward{0};
  Flops backward{0};
  Bytes written{0};
  Bytes parameters{0};
  std::string sharding;  ///< "weight: width over 8 ranks; out: tokens over 8 ranks"; empty: not divided
  int layer = 0;         ///< from the top
  int place = 0;         ///< within the layer, from the left
};
struct GraphEdge {
  std::size_t from = 0;
  std::size_t to = 0;
};
struct BlockPicture {
  std::string name;
  std::int64_t repeats = 1;
  std::vector<GraphNode> nodes;  ///< in order of execution
  std::vector<GraphEdge> edges;
  int layers = 0;
  int widest = 0;  ///< nodes of the widest layer
};

/// The blocks of the network, the one that is repeated most first.
[[nodiscard]] std::vector<BlockPicture> block_pictures(const session::PricedQuestion& asked);
[[nodiscard]] present::Table node_table(const BlockPicture& picture);

}  // namespace plumbline::gui
