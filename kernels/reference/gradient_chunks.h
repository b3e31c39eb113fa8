#pragma once
/// \file gradient_chunks.h: what the backward of a normalisation reads of a row, a chunk at a time, in fp32.

#include "kernels/reference/chunk.h"

namespace plumbline::reference {

/// visit(begin, count, dy, w, x): output gradient, weight and input of columns [begin, begin + count) of a row.
template <class Backward, class Visit>
void for_each_gradient_chunk(const Backward& args, std::int64_t row, Visit visit) {
  for_each_chunk(args.input.columns, [&](std::int64_t begin, std::int64_t count) {
    Chunk a;
    Chunk b;
    Chunk c;
    const float* dy = load(args.output_gradient, row, begin, count, a);
    const float* w = load(args.weight, 0, begin, count, b);
    const float* x = load(args.input, row, begin, count, c);
    visit(begin, count, dy, w, x);
  });
}

}  // namespace plumbline::reference
