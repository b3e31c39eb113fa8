#pragma once
/// \file peak_load.h: the most bytes that a rank's micro-batches hold while it runs its order, chunks told apart.
///
/// Answers: per kind of compute action, the largest sum of saved activations, logits, working set and gradients that
/// wait for their chunk's last backward while one of that kind runs, and where in the order. Exact, integers only;
/// nothing about states or gathered parameters, which callers add per kind. Model: saved activations and logits live
/// from a forward to its backward. Input gradients of a split backward release a part of both, and make what waits for
/// the weight gradients, which release the rest. The acting chunk has the working set of its action alongside them
/// (buffers of lower.h). Source: core/program/buffer_pass.cpp; the orders of pipeline_orders.h. Not modelled: lifetimes
/// inside an action. Checked against: tests/property/peak_load_test.cpp (replay of every order, action by action);
/// tests/property/simulation_agreement_test.cpp (memory curves, to the byte).

#include <array>
#include <span>

#include "core/program/compute_schedule.h"
#include "core/program/memory_profile.h"
#include "core/quantity/quantity.h"

namespace plumbline {

/// What one micro-batch of one chunk holds, and what the rank's next chunk takes over where it is the next stage.
struct ChunkLoad {
  MemoryProfile memory;
  Bytes gradients{0};             ///< once for all micro-batches: from its first weight gradients to its last
  Bytes transferred{0};           ///< from its forward to that of the next chunk
  Bytes transferred_gradient{0};  ///< from that chunk's (input) gradients to its own
  bool operator==(const ChunkLoad&) const = default;
};

struct LoadPeak {
  Bytes saved{0};
  Bytes logits{0};
  Bytes working{0};
  std::int64_t position = -1;  ///< of the action in the order, the first of equals; -1: there is none of the kind
  Bytes gradients{0};          ///< of chunks that have made some and will make more
  [[nodiscard]] Bytes total() const { return saved + logits + working + gradients; }
  bool operator==(const LoadPeak&) const = default;
};

/// By kind: forward, backward, input gradient, weight gradient.
struct PeakLoads {
  std::array<LoadPeak, 4> of_kind;
  [[nodiscard]] LoadPeak& operator[](ActionKind kind) { return of_kind[static_cast<std::size_t>(kind)]; }
  [[nodiscard]] const LoadPeak& operator[](ActionKind kind) const { return of_kind[static_cast<std::size_t>(kind)]; }
  bool operator==(const PeakLoads&) const = default;
};

/// Of any order without faults. Linear in its length.
[[nodiscard]] PeakLoads peak_loads(const RankOrder& order, std::span<const ChunkLoad> chunks);
/// The same of the interleaved order, in O(v): between two changes of chunk the load grows or shrinks steadily, and
/// every p v passes it is the same again.
[[nodiscard]] PeakLoads interleaved_peak_loads(const PipelineShape& shape, std::int32_t rank,
                                               std::span<const ChunkLoad> chunks);

}  // namespace plumbline
