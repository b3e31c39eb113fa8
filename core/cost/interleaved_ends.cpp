#include <algorithm>

#include "core/cost/overlap.h"
#include "core/cost/pipeline_time.h"
#include "core/cost/steady_clocks.h"

namespace plumbline {
namespace {

/// Simulates the interleaved order. Rank r takes its i-th turn, the i-th forward pass and the backward pass that its
/// warm-up of (v - 1) p + 2 (p - 1 - r) leaves due, in wave i + r: then everything a turn waits for, on the rank
/// before, the rank behind or round the loop, was made in the wave before, and two clocks per rank are all that is
/// kept.
class InterleavedSweep {
 public:
  InterleavedSweep(const PipelineTimes& t, std::int64_t m, std::int64_t v)
      : t_(t),
        p_(static_cast<std::int64_t>(t.latency.size()) + 1),
        v_(v),
        passes_(m * v),
        clock_(t.start.begin(), t.start.end()),
        forward_end_(t.latency.size() + 1),
        backward_end_(forward_end_.size()) {
    clock_.resize(forward_end_.size(), Picoseconds(0));
    reduced_.resize(forward_end_.size(), Picoseconds(0));
    for (std::int64_t turn = 0; turn < p_ * v_; ++turn) chunks_.push_back(turn / p_);
  }

  std::vector<Picoseconds> ends() {
    const std::int64_t most_turns = passes_ + (v_ - 1) * p_ + 2 * (p_ - 1);
    const std::int64_t round = p_ * v_;
    std::int64_t turn = 0;  // of the first rank in its round of forwards
    std::int64_t turned = (round - warm_up(0) % round) % round;
    for (std::int64_t wave = 0; wave < most_turns; ++wave) {
      wave += repeated_from(wave);  // whole rounds
      const Picoseconds last = forward_end_.back();
      for (std::int64_t r = std::min(p_ - 1, wave); r >= 0; --r)
        forward(r, wave - r, chunks_[static_cast<std::size_t>(turn >= r ? turn - r : turn - r + round)], last);
      const Picoseconds first = backward_end_.front();
      for (std::int64_t r = 0; r <= std::min(p_ - 1, wave); ++r)
        backward(r, wave - r - warm_up(r),
                 chunks_[static_cast<std::size_t>(turned + r < round ? turned + r : turned + r - round)], first);
      if (++turn == round) turn = 0;
      if (++turned == round) turned = 0;
    }
    for (std::size_t r = 0; r < clock_.size(); ++r) clock_[r] = std::max(clock_[r], reduced_[r]);
    return clock_;
  }

 private:
  /// Where the clocks have become periodic, moves them past as many waves as are left like those before, and answers
  /// how many. In a round of p v waves every rank takes a turn with each of its chunks in both directions.
  [[nodiscard]] std::int64_t repeated_from(std::int64_t wave) {
    const std::int64_t round = p_ * v_;
    const std::int64_t first = std::max(round + p_ - 1, (v_ - 1) * p_ + 2 * (p_ - 1));
    const std::int64_t last = passes_ - 1;  // before the first backward that is its chunk's last
    if (!t_.leaves_out_rounds || is_repeated_ || wave < first || wave >= last || (wave - first) % round != 0) return 0;
    clocks_.clear();
    for (const std::vector<Picoseconds>* some : {&clock_, &forward_end_, &backward_end_})
      for (const Picoseconds time : *some) clocks_.push_back(time.value());
    const auto found = steady_.seen(clocks_);
    if (!found) return 0;
    is_repeated_ = true;
    const std::int64_t times = (last - wave) / (found->rounds * round);
    for (std::vector<Picoseconds>* some : {&clock_, &forward_end_, &backward_end_})
      for (Picoseconds& time : *some) time += Picoseconds(times * found->shift);
    return times * found->rounds * round;
  }

  [[nodiscard]] std::int64_t warm_up(std::int64_t r) const { return (v_ - 1) * p_ + 2 * (p_ - 1 - r); }
  /// From the rank before, or to the first rank from the last.
  [[nodiscard]] Picoseconds hop(std::int64_t r) const {
    return r > 0 ? t_.latency[static_cast<std::size_t>(r - 1)] : t_.wrap;
  }

  /// `last`: when the last rank's forward of the wave before ended.
  void forward(std::int64_t r, std::int64_t pass, std::int64_t chunk, Picoseconds last) {
    if (pass >= passes_) return;
    const auto i = static_cast<std::size_t>(r);
    if (chunk > 0)
      clock_[i] = std::max(clock_[i], r > 0 ? forward_end_[i - 1] : last) + hop(r);
    else if (r > 0)
      clock_[i] = std::max(clock_[i], forward_end_[i - 1] + hop(r));
    const auto stage = static_cast<std::size_t>(chunk * p_ + r);
    const bool differs = !t_.once.empty() && pass < p_ * v_ && pass % p_ == 0;  // the chunk's first
    clock_[i] += t_.forward[stage];
    if (differs) clock_[i] += t_.once[stage].forward;
    forward_end_[i] = clock_[i];
    if (differs) clock_[i] += t_.once[stage].gathering;
  }

  /// `turned`: how many chunks lie behind its own, as backwards pass them from the last to the first. `first`: when the
  /// first rank's backward of the wave before ended.
  void backward(std::int64_t r, std::int64_t pass, std::int64_t turned, Picoseconds first) {
    if (pass < 0 || pass >= passes_) return;
    const auto i = static_cast<std::size_t>(r);
    const std::size_t sender = r + 1 < p_ ? i + 1 : 0;
    if (turned > 0) {
      const Picoseconds begin = std::max(clock_[i], r + 1 < p_ ? backward_end_[sender] : first);
      clock_[i] = begin + sent(sender, begin, hop(r));
    } else if (r + 1 < p_) {
      clock_[i] = std::max(clock_[i], backward_end_[sender] + sent(sender, backward_end_[sender], hop(r + 1)));
    }
    const auto stage = static_cast<std::size_t>((v_ - 1 - turned) * p_ + r);
    if (t_.gathers) clock_[i] = std::max(clock_[i], reduced_[i]);
    if (!t_.once.empty()) clock_[i] += slowed(i, t_.backward[stage]);
    const bool is_last = pass >= passes_ - p_ * v_ && pass % p_ == p_ - 1;  // of the chunk
    if (!t_.once.empty() && is_last) {
      reduced_[i] = std::max(reduced_[i], clock_[i]) + t_.once[stage].reducing;
      clock_[i] += t_.once[stage].backward;
    }
    clock_[i] += t_.backward[stage];
    backward_end_[i] = clock_[i];
  }

  /// How long a message takes that leaves `sender` at `begin`.
  [[nodiscard]] Picoseconds sent(std::size_t sender, Picoseconds begin, Picoseconds hop) {
    if (!t_.shares_links || reduced_[sender] <= begin) return hop;
    const Picoseconds shared = std::min(hop, reduced_[sender] - begin);
    reduced_[sender] += shared;
    return hop + shared;
  }
  /// What a backward on rank `i` loses to what is still reduced.
  [[nodiscard]] Picoseconds slowed(std::size_t i, Picoseconds backward) const {
    return part(std::clamp(reduced_[i] - clock_[i], Picoseconds(0), backward), t_.slowdown);
  }

  const PipelineTimes& t_;
  std::int64_t p_;
  std::int64_t v_;
  std::int64_t passes_;
  std::vector<std::int64_t> chunks_;  ///< by turn of a round: a division for each turn would take most of the time
  std::vector<Picoseconds> clock_;
  std::vector<Picoseconds> reduced_;       ///< when what is reduced alongside the last backwards is
  std::vector<Picoseconds> forward_end_;   ///< of the wave before
  std::vector<Picoseconds> backward_end_;  ///< of the wave before
  SteadyClocks steady_;
  std::vector<std::int64_t> clocks_;
  bool is_repeated_ = false;
};

}  // namespace

std::vector<Picoseconds> interleaved_ends(const PipelineTimes& times, std::int64_t micro_batches,
                                          std::int64_t virtual_stages) {
  return InterleavedSweep(times, micro_batches, virtual_stages).ends();
}

}  // namespace plumbline
