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
    gathered_.resize(forward_end_.size(), Picoseconds(0));
    hop_.push_back(t.wrap);
    hop_.insert(hop_.end(), t.latency.begin(), t.latency.end());
  }

  std::vector<Picoseconds> ends() {
    const std::int64_t most_turns = passes_ + (v_ - 1) * p_ + 2 * (p_ - 1);
    const std::int64_t round = p_ * v_;
    std::int64_t turn = 0;  // of the first rank in its round of forwards
    std::int64_t turned = (round - warm_up(0) % round) % round;
    for (std::int64_t wave = 0; wave < most_turns; ++wave) {
      wave += repeated_from(wave);  // whole rounds
      forwards(wave, turn);
      backwards(wave, turned);
      if (++turn == round) turn = 0;
      if (++turned == round) turned = 0;
    }
    for (std::size_t r = 0; r < clock_.size(); ++r) clock_[r] = std::max(clock_[r], reduced_[r]);
    return clock_;
  }

 private:
  /// Ranks [low, high] whose turns of a wave belong to one chunk, counted from where the pass begins.
  struct Ranks {
    std::int64_t low = 0;
    std::int64_t high = 0;
    std::int64_t chunk = 0;
  };

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
  /// The forwards of a wave, from the last rank to the first: each reads what the rank before made in the wave before.
  /// `turn`: of the first rank in its round. Ranks whose turns belong to one chunk follow each other.
  void forwards(std::int64_t wave, std::int64_t turn) {
    const std::int64_t low = std::max<std::int64_t>(0, wave - passes_ + 1);
    const std::int64_t high = std::min(p_ - 1, wave);
    const std::int64_t chunk = turn / p_;
    const std::int64_t split = turn - chunk * p_;  // the last rank whose turn belongs to `chunk`
    const Picoseconds last = forward_end_.back();
    const bool differs = !t_.once.empty() && wave - high < p_ * v_;
    const std::int64_t before = chunk > 0 ? chunk - 1 : v_ - 1;
    for (const Ranks& ranks : {Ranks{std::max(low, split + 1), high, before}, Ranks{low, std::min(high, split), chunk}})
      differs ? forward_once(ranks, wave, last) : forward(ranks, last);
  }

  /// `last`: when the last rank's forward of the wave before ended.
  void forward(Ranks ranks, Picoseconds last) {
    Picoseconds* const clock = clock_.data();
    Picoseconds* const ended = forward_end_.data();
    const Picoseconds* const hop = hop_.data();
    const Picoseconds* const takes = t_.forward.data() + ranks.chunk * p_;
    for (std::int64_t r = ranks.high; r >= std::max<std::int64_t>(1, ranks.low); --r) {
      // A rank's later chunks wait the transfer out.
      const Picoseconds begin =
          ranks.chunk > 0 ? std::max(clock[r], ended[r - 1]) + hop[r] : std::max(clock[r], ended[r - 1] + hop[r]);
      ended[r] = clock[r] = begin + takes[r];
    }
    if (ranks.low > 0 || ranks.high < 0) return;
    if (ranks.chunk > 0) clock[0] = std::max(clock[0], last) + hop[0];
    ended[0] = clock[0] += takes[0];
  }

  /// The same where the first pass of a chunk, which updated weights are gathered alongside, may be among them.
  void forward_once(Ranks ranks, std::int64_t wave, Picoseconds last) {
    for (std::int64_t r = ranks.high; r >= ranks.low; --r) {
      const std::int64_t pass = wave - r;
      const auto i = static_cast<std::size_t>(r);
      const bool is_first = pass < p_ * v_ && pass % p_ == 0;  // of its chunk
      if (is_first) clock_[i] = std::max(clock_[i], gathered_[i]);
      forward({r, r, ranks.chunk}, last);
      const auto stage = static_cast<std::size_t>(ranks.chunk * p_ + r);
      if (!is_first) {
        slow_beside_gather(i, t_.forward[stage]);
        continue;
      }
      const OnceTimes& once = t_.once[stage];
      forward_end_[i] = clock_[i] += once.forward;
      clock_[i] += once.gathering;
      gathered_[i] = clock_[i] + once.arriving;
    }
  }

  /// A forward that has been counted and ran alongside the gather of its rank's next chunk: both took longer.
  void slow_beside_gather(std::size_t i, Picoseconds takes) {
    const Picoseconds begin = clock_[i] - takes;
    if (gathered_[i] <= begin) return;
    const Picoseconds lost = part(std::min(gathered_[i] - begin, takes), t_.slowdown);
    forward_end_[i] = clock_[i] += lost;
    gathered_[i] += lost;
  }

  /// The backwards of a wave, from the first rank to the last: each reads what the rank behind made in the wave before.
  /// `turned`: of the first rank in its round; backwards pass the chunks from the last to the first.
  void backwards(std::int64_t wave, std::int64_t turned) {
    const std::int64_t first_pass = wave - warm_up(0);  // of the first rank; one more on each next
    const std::int64_t low = std::max<std::int64_t>(0, -first_pass);
    const std::int64_t high = std::min({p_ - 1, wave, passes_ - 1 - first_pass});
    const std::int64_t done = turned / p_;
    const std::int64_t split = p_ - 1 - (turned - done * p_);  // the last rank with so many chunks behind its own
    const Picoseconds first = backward_end_.front();
    const bool reduces = is_reducing_ || (!t_.once.empty() && first_pass + high >= passes_ - p_ * v_);
    const std::int64_t next = done + 1 < v_ ? done + 1 : 0;
    for (const Ranks& ranks : {Ranks{low, std::min(high, split), done}, Ranks{std::max(low, split + 1), high, next}})
      reduces ? backward_once(ranks, first_pass, first) : backward(ranks, first);
  }

  /// Before anything is reduced. `first`: when the first rank's backward of the wave before ended.
  void backward(Ranks ranks, Picoseconds first) {
    Picoseconds* const clock = clock_.data();
    Picoseconds* const ended = backward_end_.data();
    const Picoseconds* const hop = hop_.data();
    const Picoseconds* const takes = t_.backward.data() + (v_ - 1 - ranks.chunk) * p_;
    const std::int64_t high = std::min(ranks.high, p_ - 2);
    for (std::int64_t r = ranks.low; r <= high; ++r) {
      const Picoseconds begin = ranks.chunk > 0 ? std::max(clock[r], ended[r + 1]) + hop[r + 1]
                                                : std::max(clock[r], ended[r + 1] + hop[r + 1]);
      ended[r] = clock[r] = begin + takes[r];
    }
    if (ranks.high < p_ - 1 || ranks.low > p_ - 1) return;
    const std::int64_t r = p_ - 1;
    if (ranks.chunk > 0) clock[r] = std::max(clock[r], first) + hop[0];
    ended[r] = clock[r] += takes[r];
  }

  /// The same where gradients are reduced alongside, or have been.
  void backward_once(Ranks ranks, std::int64_t first_pass, Picoseconds first) {
    is_reducing_ = true;
    for (std::int64_t r = ranks.low; r <= ranks.high; ++r) backward_once(r, first_pass + r, ranks.chunk, first);
  }
  void backward_once(std::int64_t r, std::int64_t pass, std::int64_t turned, Picoseconds first) {
    const auto i = static_cast<std::size_t>(r);
    const std::size_t sender = r + 1 < p_ ? i + 1 : 0;
    if (turned > 0) {
      const Picoseconds begin = std::max(clock_[i], r + 1 < p_ ? backward_end_[sender] : first);
      clock_[i] = begin + sent(sender, begin);
    } else if (r + 1 < p_) {
      clock_[i] = std::max(clock_[i], backward_end_[sender] + sent(sender, backward_end_[sender]));
    }
    const auto stage = static_cast<std::size_t>((v_ - 1 - turned) * p_ + r);
    if (t_.gathers) clock_[i] = std::max(clock_[i], reduced_[i]);
    if (reduced_[i] > clock_[i]) clock_[i] += part(std::min(reduced_[i] - clock_[i], t_.backward[stage]), t_.slowdown);
    const bool is_last = pass >= passes_ - p_ * v_ && pass % p_ == p_ - 1;  // of the chunk
    if (is_last) {
      reduced_[i] = std::max(reduced_[i], clock_[i]) + t_.once[stage].reducing;
      clock_[i] += t_.once[stage].backward;
    }
    clock_[i] += t_.backward[stage];
    backward_end_[i] = clock_[i];
    if (is_last) clock_[i] += t_.once[stage].scattering;
  }

  /// How long a gradient takes that leaves `sender` at `begin`, for the rank before it or round the loop.
  [[nodiscard]] Picoseconds sent(std::size_t sender, Picoseconds begin) {
    const Picoseconds hop = hop_[sender];
    if (t_.shares_link.empty() || t_.shares_link[sender] == 0 || reduced_[sender] <= begin) return hop;
    const Picoseconds shared = std::min(hop, reduced_[sender] - begin);
    reduced_[sender] += shared;
    return hop + shared;
  }

  const PipelineTimes& t_;
  std::int64_t p_;
  std::int64_t v_;
  std::int64_t passes_;
  std::vector<Picoseconds> hop_;  ///< from the rank before, or to the first rank from the last
  std::vector<Picoseconds> clock_;
  std::vector<Picoseconds> reduced_;       ///< when what is reduced alongside the last backwards is
  std::vector<Picoseconds> gathered_;      ///< when what is gathered alongside the first forwards is
  std::vector<Picoseconds> forward_end_;   ///< of the wave before
  std::vector<Picoseconds> backward_end_;  ///< of the wave before
  SteadyClocks steady_;
  std::vector<std::int64_t> clocks_;
  bool is_repeated_ = false;
  bool is_reducing_ = false;
};

}  // namespace

std::vector<Picoseconds> interleaved_ends(const PipelineTimes& times, std::int64_t micro_batches,
                                          std::int64_t virtual_stages) {
  return InterleavedSweep(times, micro_batches, virtual_stages).ends();
}

}  // namespace plumbline
