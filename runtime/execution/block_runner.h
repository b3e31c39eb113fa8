#pragma once
/// \file block_runner.h: one execution of a block, operator by operator: forward, replay, backward, weight gradients.
///
/// Model: operators in order of execution, or against it. A value is bound before the operator that makes it; what is
/// not kept is released behind its last reader. A gradient is bound when the first reader's backward makes it, a later
/// contribution beside it, and released behind the operator that made the value. Nothing is computed in place. Tensors
/// that column-parallel linears read are gathered once (sequence parallelism), their gradients summed over ranks once.
/// Tensors of routed rows are as long as the routing makes them (expert_routes.h).
/// Source: core/cost/tensor_parallel_points.h (where ranks communicate); docs/decisions/0005-recompute-choices.md.
/// Not modelled: fused operators. Checked against: tests/runtime/execution (PyTorch's numbers; bytes of core/cost).

#include "core/cost/keep_rule.h"
#include "core/cost/product_format.h"
#include "kernels/dropout.h"
#include "kernels/rotary.h"
#include "runtime/execution/block_state.h"
#include "runtime/execution/rank_environment.h"

namespace plumbline {

/// What a backward makes: all gradients, or those of inputs alone.
enum class BackwardPart : std::uint8_t { all, inputs };

class BlockRunner {
 public:
  BlockRunner(RankEnvironment& environment, const Block& block, const KeepRule& rule, std::int32_t execution,
              BlockState& state);

  /// `inputs`: of the block, in its order; they count as activations from here where they are kept.
  void accept_inputs(std::vector<Held> inputs);
  /// Returns the block's outputs (the loss apart).
  std::vector<Held> forward();
  void replay();
  /// Releases nothing that `forward` made: its owner does, or keep_for_weights. `output_gradients`: as `forward`
  /// returned the outputs. Returns the gradients of the inputs.
  std::vector<Held> backward(BackwardPart part, std::vector<Held> output_gradients);
  void backward_weight();
  /// After the input gradients of a split backward were handed on: releases what weight gradients do not read.
  void keep_for_weights();

 private:
  enum class Round : std::uint8_t { first, again };

  void run(Round round);
  void run_op(OpId id);
  void backward_op(OpId id, BackwardPart part);
  void release_after(OpId id);
  void release_entered(OpId id);
  void store(OpId id, std::vector<Held> out, SideBuffers side);
  /// Whether an output is left out of the round, as it was kept.
  [[nodiscard]] bool skips(TensorId output) const { return round_ == Round::again && rule_.skips(output); }
  [[nodiscard]] MemoryClass class_of(TensorId output) const;
  [[nodiscard]] MemoryClass class_of_side(OpId op) const;
  [[nodiscard]] bool leaves_region(const Op& op) const;
  [[nodiscard]] static bool enters_region(const Op& op);

  // Operators. `out`: their outputs; gradients of outputs are in state_.gradients.
  void embedding_forward(const Op& op, std::vector<Held>& out);
  void embedding_backward(const Op& op, const Held& gradient);
  void position_backward(const Op& op, const Held& gradient);
  /// Rows of the position table, from that of position 0.
  template <class View>
  [[nodiscard]] View from_first_position(const View& table) const;
  void position_forward(const Op& op, const std::vector<Held>& out);
  void linear_forward(const Op& op, std::vector<Held>& out);
  void linear_backward(OpId id, const Op& op, BackwardPart part);
  void linear_input_gradient(OpId id, const Op& op, const std::vector<Held>& gradients);
  void linear_weight_gradient(const Op& op, const std::vector<Held>& gradients);
  void norm_forward(OpId id, const Op& op, const std::vector<Held>& out, SideBuffers& side);
  void norm_backward(OpId id, const Op& op, BackwardPart part);
  void add_deferred_norm(const Op& op, const Held& made);
  void defer(OpId id, std::vector<Held> made);
  void attention_forward(OpId id, const Op& op, const std::vector<Held>& out, SideBuffers& side);
  void attention_backward(OpId id, const Op& op);
  void ring_forward(OpId id, const Op& op, const std::vector<Held>& out, SideBuffers& side);
  void ring_backward(OpId id, const Op& op);
  void router_forward(OpId id, const Op& op, const Held& out, SideBuffers& side);
  void router_backward(OpId id, const Op& op, BackwardPart part);
  void dispatch_forward(const Op& op, Held& out);
  void dispatch_backward(const Op& op);
  void combine_forward(OpId id, const Op& op, Held& out, SideBuffers& side);
  void combine_backward(OpId id, const Op& op);
  void grouped_forward(const Op& op, const std::vector<Held>& out);
  void grouped_backward(OpId id, const Op& op, BackwardPart part);
  void grouped_input_gradient(const Op& op, const std::vector<Held>& gradients, const TensorView& dx);
  void grouped_weight_gradient(const Op& op, const std::vector<Held>& gradients);
  void activation_forward(const Op& op, const Held& out);
  void activation_backward(const Op& op);
  void rotary(const Op& op, const Held& from, const Held& to, Rotation turn) const;
  void dropout_forward(OpId id, const Op& op, const Held& out, SideBuffers& side);
  void dropout_backward(OpId id, const Op& op);
  void loss_forward(const Op& op, SideBuffers& side);

  enum class RowsGo : std::uint8_t { to_experts, to_tokens };
  [[nodiscard]] ExpertRoutes routes_of(TensorId probabilities) const;
  [[nodiscard]] std::int64_t chosen_of(TensorId probabilities) const;
  [[nodiscard]] std::vector<std::int32_t> experts_in_turn(TensorId probabilities) const;
  [[nodiscard]] ExpertArrivals announced(const ExpertRoutes& routes);
  /// Rows of a routed tensor's width: `leaving` and `arriving` are in order of the ranks at the other end.
  void exchange_rows(const ExpertRoutes& routes, RowsGo direction, const Held& leaving, const Held& arriving,
                     TensorId like);

  /// Sums or slices what each tensor-parallel rank made a part of. `whole`: all rows.
  Held left_region(Held whole, TensorId output);
  /// The gradient of a region's output with all rows.
  Held whole_gradient(Held gradient, TensorId output);
  /// What column-parallel linears read, with all rows.
  ConstTensorView entered(TensorId input);
  void contribute(TensorId tensor, Held gradient);

  /// Of a routed tensor those that arrived.
  [[nodiscard]] std::int64_t rows(TensorId id) const;
  [[nodiscard]] std::int64_t columns(TensorId id) const;
  [[nodiscard]] NumberFormat format(TensorId id) const;
  [[nodiscard]] bool is_logits(TensorId id) const;
  [[nodiscard]] bool is_sliced(TensorId id) const;
  [[nodiscard]] bool carries(TensorId id) const {
    return block_.carries_gradient()[static_cast<std::size_t>(id.index())];
  }
  [[nodiscard]] bool trains(const Op& op) const;
  [[nodiscard]] Bytes bytes(TensorId id) const { return row_bytes(id) * rows(id); }
  [[nodiscard]] Bytes row_bytes(TensorId id) const { return storage(columns(id), format(id)); }
  /// Bytes with all rows of the context-parallel slice.
  [[nodiscard]] std::int64_t whole_rows(TensorId id) const;
  [[nodiscard]] Held bind(MemoryClass c, Bytes size) { return env_.backend.bind(c, size); }
  [[nodiscard]] Held working(Bytes size) { return bind(MemoryClass::working_buffers, size); }
  [[nodiscard]] const Held& held(TensorId id) const;
  [[nodiscard]] Held& gradient(TensorId id) { return state_.gradients[static_cast<std::size_t>(id.index())]; }
  [[nodiscard]] ConstTensorView value(TensorId id) const { return view(held(id), id); }
  /// All of a buffer as rows of the tensor's width.
  [[nodiscard]] TensorView view(const Held& buffer, TensorId like) const;
  [[nodiscard]] DropoutDraw draw(OpId id) const;
  /// Whether a column-parallel linear that runs before `id` reads `input`.
  [[nodiscard]] bool is_entered_before(TensorId input, OpId id) const;

  RankEnvironment& env_;
  const Block& block_;
  const KeepRule& rule_;
  std::int32_t execution_;
  BlockState& state_;
  Round round_ = Round::first;
  std::vector<Held> entered_;           ///< by tensor: gathered rows
  std::vector<Held> partial_;           ///< by tensor: gradients that other ranks hold parts of
  std::vector<std::int32_t> position_;  ///< of each op in the order of execution
};

[[nodiscard]] inline std::span<std::byte> span_of(const Held& buffer) {
  return {buffer->data(), static_cast<std::size_t>(buffer->bytes().value())};
}

/// A linear's outputs with the parameters of each.
struct LinearPart {
  TensorId output;
  TensorId weight;
  TensorId bias;
};
[[nodiscard]] std::vector<LinearPart> linear_parts(const Block& block, const Op& op);

/// Binds the copies that fp8 products of a block read of its weights.
void keep_product_weights(RankEnvironment& environment, const Block& block, std::int32_t execution);

}  // namespace plumbline
