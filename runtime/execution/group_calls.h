#pragma once
/// \file group_calls.h: a rank's calls of its groups, on the lanes of its device, and how long those of blocks take.
///
/// Model: what an operator sums or gathers over tensor-parallel ranks runs on the tensor lane, and not at all where
/// there is one of them; all else runs on the compute lane. A call of a block lies between two timed marks of the
/// compute lane, which are read behind the step (collectives_inside.h). Not modelled: gathers and reductions of
/// parameters (weight_gathers.h, gradient_reductions.h). Checked against: tests/runtime/execution.

#include <span>
#include <utility>
#include <vector>

#include "runtime/execution/backend.h"
#include "runtime/execution/rank_groups.h"

namespace plumbline {

/// For how long a communicator's call inside of a block keeps the compute lane: between two timed marks of that lane.
struct TimedCall {
  Axis axis = Axis::tensor;
  Mark begin;
  Mark end;
};

class GroupCalls {
 public:
  GroupCalls(RankGroups& groups, Backend& backend, ComputeDevice& device)
      : groups_(groups), backend_(backend), device_(device) {}

  /// Sums over tensor-parallel ranks, padded to equal parts.
  void tensor_all_reduce(std::span<std::byte> data, NumberFormat format, Reduction reduction);
  void tensor_all_gather(std::span<const std::byte> own, std::span<std::byte> all, NumberFormat format);
  void tensor_reduce_scatter(std::span<const std::byte> data, std::span<std::byte> own, NumberFormat format);
  /// A communicator's call on the compute lane.
  template <class Call>
  void communicate(Call call) {
    device_.enqueue(Stream::compute, std::move(call));
  }
  /// The same inside of a block, whose time is asked for behind the step.
  template <class Call>
  void communicate(Axis axis, Call call) {
    const Mark begin = device_.timed_mark(Stream::compute);
    communicate(std::move(call));
    note_timed(axis, begin);
  }

  [[nodiscard]] Communicator& group(Axis axis) { return groups_[axis]; }

  /// From `begin` until now the compute lane is kept by a call of this axis.
  void note_timed(Axis axis, Mark begin) { timed_.push_back({axis, begin, device_.timed_mark(Stream::compute)}); }
  void begin_step() { timed_.clear(); }
  /// Of the step at hand.
  [[nodiscard]] const std::vector<TimedCall>& timed() const { return timed_; }
  /// Once the step is done.
  [[nodiscard]] std::int64_t elapsed_ns(const TimedCall& call) const {
    return device_.elapsed_ns(call.begin, call.end);
  }

 private:
  RankGroups& groups_;
  Backend& backend_;
  ComputeDevice& device_;
  std::vector<TimedCall> timed_;
};

}  // namespace plumbline
