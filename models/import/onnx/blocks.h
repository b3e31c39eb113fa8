#pragma once
/// \file blocks.h: a list of operators cut into the blocks that a pipeline places and that repeat.
///
/// Model: a cut is where one tensor alone carries a gradient onwards; a piece without parameters belongs to the one
/// before it. A sequence of pieces that repeats is one block, executed so often: two pieces are the same when kinds,
/// attributes, shapes and wiring are. What is left is put together. Data (masks, positions) is supplied wherever it is
/// read. A graph without such a cut (a U-Net) is one block, and pipelines of more stages are refused for it.
/// Checked against: tests/reference/onnx_test.cpp (layers of eight networks).

#include "core/graph/graph.h"
#include "models/import/onnx/infer.h"
#include "models/import/onnx/lowering.h"

namespace plumbline::onnx {

[[nodiscard]] plumbline::Graph build_graph(std::string name, const FlatGraph& flat, const Lowering& lowering);

}  // namespace plumbline::onnx
