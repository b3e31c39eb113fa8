#include <deque>

#include "core/program/chunk_counters.h"
#include "core/program/pipeline_orders.h"

namespace plumbline {
namespace {

/// The two kinds of backward of this schedule, and the weight gradients that are still owed, oldest first.
class Emitter {
 public:
  void forward(std::int32_t chunk) { next_.forward(chunk); }
  void backward(std::int32_t chunk) { next_.backward(chunk); }
  void input_gradient(std::int32_t chunk) {
    next_.backward_input(chunk);
    owed_.push_back(chunk);
  }
  void owed_weight_gradient() {
    if (owed_.empty()) return;
    next_.backward_weight(owed_.front());
    owed_.pop_front();
  }
  /// Forward of one chunk together with the backward of the other.
  void pair(std::int32_t forward_chunk) {
    next_.forward(forward_chunk);
    next_.order().back().overlap = Overlap::with_next;
    next_.backward(1 - forward_chunk);
  }
  void either_backward(std::int32_t chunk, bool split) { split ? input_gradient(chunk) : backward(chunk); }
  [[nodiscard]] RankOrder take() { return std::move(next_.order()); }

 private:
  ChunkCounters next_;
  std::deque<std::int32_t> owed_;
};

void fill(Emitter& emit, std::int32_t after, std::int32_t rank) {
  for (std::int32_t i = 0; i < 2 * after; ++i) emit.forward(0);
  for (std::int32_t i = 0; i < rank + 1; ++i) {
    emit.forward(0);
    emit.forward(1);
  }
  for (std::int32_t i = 0; i < after; ++i) {
    emit.input_gradient(1);
    emit.owed_weight_gradient();
    emit.forward(1);
  }
}

void steady(Emitter& emit, std::int32_t after, std::int32_t pairs) {
  for (std::int32_t i = 0; i < pairs; ++i) {
    if (i == 0 && after == 0) {  // the rank at the turn starts earlier when it does not pair
      emit.forward(0);
      emit.backward(1);
    } else {
      emit.pair(0);
    }
    emit.pair(1);
  }
  for (std::int32_t i = 0; i < after; ++i) {
    emit.backward(1);
    emit.pair(1);
  }
}

/// From the middle on, backwards are split, so that input gradients leave earlier.
void drain(Emitter& emit, std::int32_t after, std::int32_t rank) {
  const std::int32_t rounds = rank + 1;
  bool split = false;
  for (std::int32_t i = 0; i < rounds; ++i) {
    if (i == rounds / 2 && rank % 2 == 1) split = true;
    emit.either_backward(1, split);
    if (i == rounds / 2 && rank % 2 == 0) split = true;
    emit.either_backward(0, split);
  }
  for (std::int32_t i = 0; i < after; ++i) {
    emit.owed_weight_gradient();
    emit.either_backward(0, split);
  }
  for (std::int32_t i = 0; i < rounds; ++i) emit.owed_weight_gradient();
}

/// V placement; forward of one chunk issued together with the backward of the other. Needs m >= 2 p.
RankOrder dualpipev_order(const PipelineShape& shape, std::int32_t rank) {
  const std::int32_t after = shape.pipeline_stages - 1 - rank;  // ranks behind this one
  Emitter emit;
  fill(emit, after, rank);
  steady(emit, after, shape.micro_batches - 2 * shape.pipeline_stages + rank + 1);
  drain(emit, after, rank);
  return emit.take();
}

}  // namespace

constexpr ScheduleOrder dualpipev_schedule{.orders = rank_by_rank<dualpipev_order>, .repeats_from = 3};

}  // namespace plumbline
