#pragma once
/// \file action.h: what a rank does, one thing after another: the words of a program.
///
/// Answers: which action, of which chunk, for which micro-batch; no unit, no time.
/// Model: a compute-only order names forward and backward actions; later passes put the other kinds between them.
/// Source: the action list of PyTorch's torch.distributed.pipelining and of DeepSpeed's pipeline engine.
/// Not modelled here: what an action takes and holds (core/cost, buffers).
/// Checked against: tests/reference/pipeline_orders_test.cpp (orders that PyTorch makes).

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace plumbline {

enum class ActionKind : std::uint8_t {
  forward,
  backward,         ///< gradients of inputs and of weights
  backward_input,   ///< gradients of inputs only: what the rank before waits for
  backward_weight,  ///< gradients of weights only: nobody waits for them
  recompute,        ///< a forward pass again, just before a backward
  send_forward,
  receive_forward,
  send_backward,
  receive_backward,
  all_gather_parameters,
  release_parameters,
  reduce_gradients,
  tensor_collective,
  context_collective,
  expert_collective,
  optimizer_step,
  offload,  ///< copy from device to host
  fetch,    ///< copy from host to device
};
/// "forward", "backward-input", ...
[[nodiscard]] std::string_view to_text(ActionKind kind);

/// Whether an action and the one after it are issued together, so that the communication of one hides behind the
/// compute of the other (DualPipeV).
enum class Overlap : std::uint8_t { none, with_next };

/// A compute action of one rank. `chunk` counts the rank's own chunks from 0.
struct ComputeAction {
  ActionKind kind = ActionKind::forward;
  std::int32_t chunk = 0;
  std::int32_t micro_batch = 0;
  Overlap overlap = Overlap::none;
  auto operator<=>(const ComputeAction&) const = default;
};

/// The compute actions of one rank, first to last.
using RankOrder = std::vector<ComputeAction>;

/// "forward 3", or "forward 3 of chunk 1" when a rank has more than one chunk.
[[nodiscard]] std::string to_text(const ComputeAction& action, std::int32_t virtual_stages);

}  // namespace plumbline
