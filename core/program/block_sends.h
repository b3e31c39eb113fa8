#pragma once
/// \file block_sends.h: what a rank sends while it runs one pass over a block, collective by collective.
///
/// Answers kind, group and bytes of each, in the order of the instructions. Model: a fold over a pass of
/// block_program.h. An all-reduce is padded to equal parts of its ranks; those of one operator that follow each other
/// (the loss) are one message. Ring attention sends its keys and values once for each other rank, and in the backward
/// their gradients with them; ranks that gather keys and values instead (a ring all-gather) send as much.
/// Where they exchange heads, each of attention's tensors is an all-to-all of the rank's part of it.
/// Source: block_program.h; ring attention, Liu et al., arXiv:2310.01889; DeepSpeed Ulysses, arXiv:2309.14509.
/// Not modelled: how many rows go to each expert, which ranks tell each other first.
/// Checked against: tests/property/block_sends_test.cpp (closed forms); tests/runtime/execution (executed counters).

#include "core/program/block_program.h"

namespace plumbline {

struct BlockSend {
  Collective kind = Collective::all_reduce;
  Axis axis = Axis::tensor;
  Bytes bytes{0};          ///< as wire_bytes takes them (core/sharding/collective.h)
  std::int64_t times = 1;  ///< hops of a ring
  OpId op;
};

/// Of the program of `block` on `shard`.
[[nodiscard]] std::vector<BlockSend> block_sends(const BlockProgram& program, BlockPass pass, const Block& block,
                                                 const Shard& shard);

}  // namespace plumbline
