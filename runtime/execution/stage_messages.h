#pragma once
/// \file stage_messages.h: what passes between pipeline stages: messages to other ranks, copies for a stage on the
/// same.
///
/// Model: what arrives lies in one buffer for each direction, as large as the largest message, until its reader copies
/// it. A message is as long as its action says, zeros behind the tensor. A stage on the same rank gets a copy, as a
/// message would be. Source: core/program/transfer_pass.cpp. Checked against: tests/runtime/execution.

#include "runtime/execution/execution_plan.h"
#include "runtime/execution/group_calls.h"

namespace plumbline {

class StageMessages {
 public:
  StageMessages(const ExecutionPlan& plan, GroupCalls& calls, Backend& backend, ComputeDevice& device);

  /// Of the network's stages, that of an action's chunk.
  [[nodiscard]] std::int32_t network_stage(const Action& action) const;
  [[nodiscard]] bool ends_chunk(const Action& action) const;
  /// Whether the network has the stage, on another rank.
  [[nodiscard]] bool is_elsewhere(std::int32_t stage) const;

  /// Nothing: zeros alone.
  void send(const Action& action, const BufferRef& tensor);
  void receive(const Action& action);
  /// What arrived last, of a forward or a backward.
  [[nodiscard]] const BufferRef& received(Pass pass) const { return pass == Pass::forward ? activation_ : gradient_; }
  [[nodiscard]] BufferRef copied(const BufferRef& received, const Tensor& tensor);
  [[nodiscard]] BufferRef parked(const BufferRef& made);

 private:
  [[nodiscard]] std::int32_t tag(const Action& action, std::int32_t receiving_stage) const;
  [[nodiscard]] std::span<const std::byte> padded(std::span<const std::byte> tensor, Bytes bytes);

  const ExecutionPlan& plan_;
  GroupCalls& calls_;
  Backend& backend_;
  ComputeDevice& device_;
  std::int32_t rank_stage_;
  const RankProgram& rank_;
  BufferRef activation_;
  BufferRef gradient_;
};

}  // namespace plumbline
