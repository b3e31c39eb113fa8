#pragma once
/// \file lower.h: from an order of compute actions and the sizes of its pieces to a whole program.
///
/// Answers: the Program (program.h); bytes in, bytes out.
/// Model: passes, each of which adds one thing to every rank's list: recompute, collectives of tensor, context and
/// expert parallelism, sends and receives, gathered parameters, reduced gradients, optimizer step, buffers, links.
/// Source: the lowering of PyTorch's torch.distributed.pipelining; ZeRO, arXiv:1910.02054 section 7.
/// Not modelled: buckets of gradients; offload; a gather that a weight gradient would need (products need none).
/// Checked against: tests/unit/core/program/lower_test.cpp (lists worked by hand).

#include "core/plan/strategy.h"
#include "core/program/program.h"

namespace plumbline {

/// What a collective of each kind sends for one piece and pass.
struct PassBytes {
  Bytes tensor{0};
  Bytes context{0};
  Bytes expert{0};
};

enum class Restores : std::uint8_t { nothing, something };
struct PieceSizes {
  Piece executions;
  Restores restores = Restores::nothing;  ///< before its backward
  Bytes saved{0};                         ///< from forward to backward, per micro-batch
  Bytes working_forward{0};
  Bytes working_backward{0};  ///< with what recompute restores
  Bytes logits{0};
  PassBytes forward;
  PassBytes backward;
  Bytes gather{0};   ///< sent per pass to gather its parameters
  Bytes scatter{0};  ///< sent per micro-batch to reduce its gradients
};

struct ChunkSizes {
  std::vector<PieceSizes> pieces;
  Bytes boundary{0};  ///< the activation that enters it from the stage before
};

struct PersistentBytes {
  MemoryClass memory_class = MemoryClass::weights;
  Bytes bytes{0};
};

struct RankSizes {
  std::vector<ChunkSizes> chunks;
  std::vector<PersistentBytes> persistent;
  Bytes received{0};  ///< one receive buffer: there is one for activations, one for their gradients
  Bytes gathered_parameters{0};
  Bytes gathered_gradients{0};
  Bytes reduction{0};  ///< sent after the last backward
  Bytes tied{0};       ///< sent to the other end of the pipeline for a tied embedding
};

struct LoweringInput {
  std::int32_t zero_stage = 0;
  ComputeSchedule schedule;
  std::vector<RankSizes> ranks;
};

/// Requires an order without faults and deadlock (action_fault, play_order), and sizes for each of its chunks.
[[nodiscard]] Program lower(const LoweringInput& input);

}  // namespace plumbline
