#pragma once
/// \file block_programs.h: the programs of a network's blocks, as every rank of a plan runs them.
///
/// Answers one program for each execution of a block. Model: executions of a block with the same replay share a
/// program; so does whoever lowered the same block for the same sizes through the same known programs, as pricing did
/// where the stack keeps of a block what this runtime does. They have what split backwards need, whether or not the
/// schedule splits any, as those that are priced. Source: block_program.h.
/// Checked against: tests/unit/core/program/block_programs_test.cpp; tests/runtime/execution.

#include "core/graph/graph.h"
#include "core/program/known_programs.h"
#include "core/program/program.h"

namespace plumbline {

/// `replays`: by execution of the graph. `known`: of the graph's blocks.
[[nodiscard]] BlockPrograms block_programs(const Graph& graph, const Shard& shard, const std::vector<Replay>& replays,
                                           KnownPrograms& known);

}  // namespace plumbline
