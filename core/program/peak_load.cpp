#include "core/program/peak_load.h"

#include <algorithm>

namespace plumbline {
namespace {

/// What is alive, and the largest of it so far.
class Load {
 public:
  /// `micro_batches`: of every chunk.
  Load(std::span<const ChunkLoad> chunks, std::int64_t micro_batches)
      : chunks_(chunks), micro_batches_(micro_batches), made_(chunks.size(), 0) {}

  /// `position`: of the action in the order.
  void forward(std::int32_t chunk, std::int64_t position) {
    const MemoryProfile& own = of(chunk).memory;
    saved_ += own.saved + of(chunk).transferred;
    logits_ += own.logits;
    see(ActionKind::forward, own.working.forward, position);
    saved_ -= before(chunk).transferred;
  }
  void backward(std::int32_t chunk, std::int64_t position) {
    const MemoryProfile& own = of(chunk).memory;
    saved_ += before(chunk).transferred_gradient;
    begin_gradients(chunk);
    see(ActionKind::backward, own.working.backward, position);
    make_gradients(chunk, 1);
    saved_ -= own.saved + of(chunk).transferred_gradient;
    logits_ -= own.logits;
  }
  void backward_input(std::int32_t chunk, std::int64_t position) {
    const MemoryProfile& own = of(chunk).memory;
    saved_ += own.deferred + before(chunk).transferred_gradient;
    see(ActionKind::backward_input, own.working.backward_input, position);
    saved_ -= own.dropped() + of(chunk).transferred_gradient;
    logits_ -= own.logits - own.late_logits;
  }
  void backward_weight(std::int32_t chunk, std::int64_t position) {
    const MemoryProfile& own = of(chunk).memory;
    begin_gradients(chunk);
    see(ActionKind::backward_weight, own.working.weight, position);
    make_gradients(chunk, 1);
    saved_ -= own.kept_for_weight + own.deferred;
    logits_ -= own.late_logits;
  }
  /// The net effect of `count` forwards of one chunk, or backwards for a negative count.
  void skip(std::int32_t chunk, std::int64_t count) {
    saved_ += count * of(chunk).memory.saved;
    logits_ += count * of(chunk).memory.logits;
    if (count < 0) make_gradients(chunk, -count);
  }
  [[nodiscard]] const PeakLoads& peaks() const { return peaks_; }

 private:
  [[nodiscard]] const ChunkLoad& of(std::int32_t chunk) const { return chunks_[static_cast<std::size_t>(chunk)]; }
  /// The rank's chunk before, which transfers to this one.
  [[nodiscard]] const ChunkLoad& before(std::int32_t chunk) const { return chunk == 0 ? none_ : of(chunk - 1); }
  void begin_gradients(std::int32_t chunk) {
    if (made_[static_cast<std::size_t>(chunk)] == 0) gradients_ += of(chunk).gradients;
  }
  /// Of `count` micro-batches.
  void make_gradients(std::int32_t chunk, std::int64_t count) {
    std::int64_t& made = made_[static_cast<std::size_t>(chunk)];
    made += count;
    if (made == micro_batches_) gradients_ -= of(chunk).gradients;
  }
  void see(ActionKind kind, Bytes working, std::int64_t position) {
    LoadPeak& peak = peaks_[kind];
    const LoadPeak now{saved_, logits_, working, position, gradients_};
    if (peak.position < 0 || now.total() > peak.total()) peak = now;
  }

  std::span<const ChunkLoad> chunks_;
  ChunkLoad none_;
  std::int64_t micro_batches_;
  std::vector<std::int64_t> made_;  ///< micro-batches whose weight gradients are, by chunk
  Bytes saved_{0};
  Bytes logits_{0};
  Bytes gradients_{0};
  PeakLoads peaks_;
};

/// Walks the passes of the interleaved order run by run; a run is as long as neither direction changes its chunk.
class InterleavedRuns {
 public:
  InterleavedRuns(const PipelineShape& shape, std::int32_t rank, std::span<const ChunkLoad> chunks)
      : p_(shape.pipeline_stages),
        v_(shape.virtual_stages),
        passes_(std::int64_t{shape.micro_batches} * v_),
        warm_up_(std::min((v_ - 1) * p_ + 2 * (p_ - 1 - rank), passes_)),
        chunks_(chunks),
        load_(chunks, shape.micro_batches) {}

  PeakLoads peaks() {
    const bool has_gradients =
        std::any_of(chunks_.begin(), chunks_.end(), [](const ChunkLoad& c) { return c.gradients > Bytes(0); });
    if (!has_gradients &&
        std::all_of(chunks_.begin(), chunks_.end(), [&](const ChunkLoad& c) { return c == chunks_.front(); }))
      return of_equal_chunks();
    for (std::int64_t i = 0; i < warm_up_; i = next_) {
      next_ = std::min(warm_up_, change_after(i));
      forwards(i, next_ - i);
    }
    // In a first period gradients of one chunk after another come, in a second one all are there.
    const std::int64_t period = (has_gradients ? 2 : 1) * p_ * v_;
    const std::int64_t steady = std::min(passes_, warm_up_ + period);
    for (std::int64_t i = warm_up_; i < steady; i = next_) {
      next_ = std::min({steady, change_after(i), change_after(i - warm_up_) + warm_up_});
      turns(i, next_ - i);
    }
    // A whole period has seen every backward with more in flight than the drain has.
    if (passes_ - warm_up_ >= period) return load_.peaks();
    for (std::int64_t i = passes_ - warm_up_; i < passes_; i = next_) {
      next_ = std::min(passes_, change_after(i));
      backwards(i, next_ - i);
    }
    return load_.peaks();
  }

 private:
  /// The first forward after the warm-up and its backward see the most in flight.
  [[nodiscard]] PeakLoads of_equal_chunks() const {
    const MemoryProfile& chunk = chunks_.front().memory;
    const std::int64_t alive = std::min(warm_up_ + 1, passes_);
    PeakLoads peaks;
    peaks[ActionKind::forward] = {alive * chunk.saved, alive * chunk.logits, chunk.working.forward, alive - 1};
    peaks[ActionKind::backward] = {alive * chunk.saved, alive * chunk.logits, chunk.working.backward, alive};
    return peaks;
  }
  [[nodiscard]] std::int64_t change_after(std::int64_t pass) const { return (pass / p_ + 1) * p_; }
  [[nodiscard]] std::int32_t forward_chunk(std::int64_t pass) const {
    return static_cast<std::int32_t>(pass / p_ % v_);
  }
  [[nodiscard]] std::int32_t backward_chunk(std::int64_t pass) const {
    return static_cast<std::int32_t>(v_ - 1) - forward_chunk(pass);
  }
  /// Only the last of a run of forwards can be the peak, the first of a run of backwards, an end of a run of both.
  void forwards(std::int64_t pass, std::int64_t count) {
    load_.skip(forward_chunk(pass), count - 1);
    load_.forward(forward_chunk(pass), pass + count - 1);
  }
  void backwards(std::int64_t pass, std::int64_t count) {
    load_.backward(backward_chunk(pass), passes_ + pass);
    load_.skip(backward_chunk(pass), 1 - count);
  }
  /// Or the second turn: the first backward of a chunk brings gradients that the forward before it does not see.
  void turns(std::int64_t pass, std::int64_t count) {
    turn(pass);
    if (count == 1) return;
    if (count > 2) turn(++pass), --count;
    load_.skip(forward_chunk(pass), count - 2);
    load_.skip(backward_chunk(pass - warm_up_), 2 - count);
    turn(pass + count - 1);
  }
  void turn(std::int64_t pass) {
    load_.forward(forward_chunk(pass), 2 * pass - warm_up_);
    load_.backward(backward_chunk(pass - warm_up_), 2 * pass - warm_up_ + 1);
  }

  std::int64_t p_;
  std::int64_t v_;
  std::int64_t passes_;
  std::int64_t warm_up_;
  std::int64_t next_ = 0;
  std::span<const ChunkLoad> chunks_;
  Load load_;
};

}  // namespace

PeakLoads peak_loads(const RankOrder& order, std::span<const ChunkLoad> chunks) {
  const std::int64_t forwards =
      std::count_if(order.begin(), order.end(), [](const ComputeAction& a) { return a.kind == ActionKind::forward; });
  Load load(chunks, forwards / std::max<std::int64_t>(1, std::ssize(chunks)));
  for (std::int64_t i = 0; i < std::ssize(order); ++i) {
    const ComputeAction& action = order[static_cast<std::size_t>(i)];
    switch (action.kind) {
      case ActionKind::forward: load.forward(action.chunk, i); break;
      case ActionKind::backward: load.backward(action.chunk, i); break;
      case ActionKind::backward_input: load.backward_input(action.chunk, i); break;
      case ActionKind::backward_weight: load.backward_weight(action.chunk, i); break;
      default: break;
    }
  }
  return load.peaks();
}

PeakLoads interleaved_peak_loads(const PipelineShape& shape, std::int32_t rank, std::span<const ChunkLoad> chunks) {
  return InterleavedRuns(shape, rank, chunks).peaks();
}

}  // namespace plumbline
