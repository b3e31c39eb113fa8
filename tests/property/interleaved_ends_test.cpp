// Interleaving by the rule of each turn, one at a time: what the sweep of waves, chunk by chunk, must come to.

#include <algorithm>
#include <random>

#include "core/cost/overlap.h"
#include "core/cost/pipeline_time.h"
#include "tests/catch.h"

namespace plumbline {
namespace {

/// Rank r takes its i-th turn, the i-th forward and the backward that its warm-up leaves due, in wave i + r.
class ByTurns {
 public:
  ByTurns(const PipelineTimes& t, std::int64_t m, std::int64_t v)
      : t_(t),
        p_(static_cast<std::int64_t>(t.latency.size()) + 1),
        v_(v),
        passes_(m * v),
        clock_(t.start.begin(), t.start.end()),
        reduced_(clock_.size(), Picoseconds(0)),
        gathered_(reduced_),
        forward_end_(reduced_),
        backward_end_(reduced_) {}

  std::vector<Picoseconds> ends() {
    for (std::int64_t wave = 0; wave < passes_ + (v_ - 1) * p_ + 2 * (p_ - 1); ++wave) {
      const Picoseconds last = forward_end_.back();
      for (std::int64_t r = std::min(p_ - 1, wave); r >= 0; --r)
        if (wave - r < passes_) forward(at(r), wave - r, last);
      const Picoseconds first = backward_end_.front();
      for (std::int64_t r = 0; r <= std::min(p_ - 1, wave); ++r) {
        const std::int64_t pass = wave - r - (v_ - 1) * p_ - 2 * (p_ - 1 - r);
        if (pass >= 0 && pass < passes_) backward(at(r), pass, first);
      }
    }
    for (std::size_t r = 0; r < clock_.size(); ++r) clock_[r] = std::max(clock_[r], reduced_[r]);
    return clock_;
  }

 private:
  static std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }
  [[nodiscard]] Picoseconds hop(std::size_t r) const { return r > 0 ? t_.latency[r - 1] : t_.wrap; }

  void forward(std::size_t r, std::int64_t pass, Picoseconds last) {
    const std::int64_t chunk = pass / p_ % v_;
    const std::size_t stage = at(chunk * p_) + r;
    const bool is_first = pass < p_ * v_ && pass % p_ == 0;
    if (is_first) clock_[r] = std::max(clock_[r], gathered_[r]);
    if (chunk > 0)
      clock_[r] = std::max(clock_[r], r > 0 ? forward_end_[r - 1] : last) + hop(r);
    else if (r > 0)
      clock_[r] = std::max(clock_[r], forward_end_[r - 1] + hop(r));
    const Picoseconds takes = t_.forward[stage];
    const Picoseconds lost =
        is_first ? Picoseconds(0)
                 : part(std::clamp(gathered_[r] - clock_[r], Picoseconds(0), takes), t_.slowdown);  // of both
    gathered_[r] += lost;
    clock_[r] += takes + lost + (is_first ? t_.once[stage].forward : Picoseconds(0));
    forward_end_[r] = clock_[r];
    if (!is_first) return;
    clock_[r] += t_.once[stage].gathering;
    gathered_[r] = clock_[r] + t_.once[stage].arriving;
  }

  void backward(std::size_t r, std::int64_t pass, Picoseconds first) {
    const std::int64_t turned = pass / p_ % v_;
    const bool is_end = r + 1 == clock_.size();
    const std::size_t sender = is_end ? 0 : r + 1;
    const Picoseconds sent_at = is_end ? first : backward_end_[sender];
    if (turned > 0) {
      const Picoseconds begin = std::max(clock_[r], sent_at);
      clock_[r] = begin + sent(sender, begin);
    } else if (!is_end) {
      clock_[r] = std::max(clock_[r], sent_at + sent(sender, sent_at));
    }
    const std::size_t stage = at((v_ - 1 - turned) * p_) + r;
    const Picoseconds takes = t_.backward[stage];
    if (t_.gathers) clock_[r] = std::max(clock_[r], reduced_[r]);
    clock_[r] += part(std::clamp(reduced_[r] - clock_[r], Picoseconds(0), takes), t_.slowdown);
    const bool is_last = pass >= passes_ - p_ * v_ && pass % p_ == p_ - 1;
    if (is_last) {
      reduced_[r] = std::max(reduced_[r], clock_[r]) + t_.once[stage].reducing;
      clock_[r] += t_.once[stage].backward;
    }
    clock_[r] += takes;
    backward_end_[r] = clock_[r];
    if (is_last) clock_[r] += t_.once[stage].scattering;
  }

  /// A gradient goes to the rank before, over the link of its sender, or round the loop, over the first rank's.
  Picoseconds sent(std::size_t sender, Picoseconds begin) {
    if (t_.shares_link.empty() || t_.shares_link[sender] == 0 || reduced_[sender] <= begin) return hop(sender);
    const Picoseconds shared = std::min(hop(sender), reduced_[sender] - begin);
    reduced_[sender] += shared;
    return hop(sender) + shared;
  }

  const PipelineTimes& t_;
  std::int64_t p_;
  std::int64_t v_;
  std::int64_t passes_;
  std::vector<Picoseconds> clock_;
  std::vector<Picoseconds> reduced_;
  std::vector<Picoseconds> gathered_;
  std::vector<Picoseconds> forward_end_;
  std::vector<Picoseconds> backward_end_;
};

TEST_CASE("interleaving swept in waves ends as turn by turn") {
  std::mt19937_64 bits(1);
  const auto drawn = [&](std::int64_t least, std::int64_t most) {
    return Picoseconds(least + static_cast<std::int64_t>(bits() % static_cast<std::uint64_t>(most - least + 1)));
  };
  for (int n = 0; n < 2000; ++n) {
    const std::int64_t p = drawn(2, 6).value();
    const std::int64_t v = drawn(2, 4).value();
    const std::int64_t m = p * drawn(1, 5).value();
    std::vector<Picoseconds> forward;
    std::vector<Picoseconds> backward;
    std::vector<OnceTimes> once;
    for (std::int64_t stage = 0; stage < p * v; ++stage) {
      forward.push_back(drawn(1, 20));
      backward.push_back(drawn(3, 40));
      const Picoseconds arriving = stage < p * (v - 1) ? drawn(0, 90) : Picoseconds(0);
      once.push_back({drawn(0, 9), drawn(0, 9), drawn(-2, 9), drawn(0, 200), drawn(0, 30), arriving});
    }
    std::vector<Picoseconds> start;
    std::vector<Picoseconds> latency;
    for (std::int64_t rank = 0; rank < p; ++rank) start.push_back(drawn(0, 9));
    for (std::int64_t rank = 1; rank < p; ++rank) latency.push_back(drawn(0, 9));
    PipelineTimes t{forward, backward, latency};
    t.wrap = drawn(0, 9);
    t.start = start;
    t.once = once;
    t.slowdown = 0.3;
    std::vector<std::uint8_t> shares_link;
    for (std::int64_t rank = 0; rank < p; ++rank) shares_link.push_back(drawn(0, 1).value() == 1 ? 1 : 0);
    if (n % 2 == 0) t.shares_link = shares_link;
    t.gathers = n % 3 == 0;
    INFO("p " << p << ", v " << v << ", m " << m);
    REQUIRE(interleaved_ends(t, m, v) == ByTurns(t, m, v).ends());
  }
}

}  // namespace
}  // namespace plumbline
