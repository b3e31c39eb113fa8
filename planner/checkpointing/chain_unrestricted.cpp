// The unrestricted optimum of a short chain: Dijkstra over what memory holds.

#include <queue>

#include "core/base/errors.h"
#include "planner/checkpointing/chain.h"

namespace plumbline {
namespace {

constexpr std::size_t most_stages = 7;

/// Bit i - 1 of `values` and `saved`: a_i and saved set i are held. `gradient`: the latest gradient written.
struct Held {
  std::uint32_t values = 0;
  std::uint32_t saved = 0;
  std::uint32_t gradient = 0;
};

class Machine {
 public:
  Machine(const Chain& chain, std::int64_t memory)
      : chain_(chain),
        n_(static_cast<std::uint32_t>(chain.stages.size())),
        memory_(memory),
        time_((std::size_t{n_} + 1) << (2 * n_), Picoseconds::largest().value()) {}

  std::optional<Picoseconds> run() {
    reach({0, 0, n_}, 0);
    while (!queue_.empty()) {
      const auto [time, code] = queue_.top();
      queue_.pop();
      const Held held = decoded(code);
      if (held.gradient == 0) return Picoseconds(time);
      if (time == time_[code]) leave(held, time);
    }
    return std::nullopt;
  }

 private:
  using Entry = std::pair<std::int64_t, std::size_t>;

  [[nodiscard]] std::size_t code(const Held& h) const {
    return (std::size_t{h.gradient} << (2 * n_)) | (std::size_t{h.saved} << n_) | h.values;
  }
  [[nodiscard]] Held decoded(std::size_t code) const {
    const std::size_t mask = (std::size_t{1} << n_) - 1;
    return {static_cast<std::uint32_t>(code & mask), static_cast<std::uint32_t>((code >> n_) & mask),
            static_cast<std::uint32_t>(code >> (2 * n_))};
  }
  [[nodiscard]] std::int64_t bytes(const Held& h) const {
    std::int64_t sum = chain_.values[0] + chain_.gradients[h.gradient];
    for (std::uint32_t i = 1; i <= n_; ++i) {
      if ((h.values >> (i - 1)) & 1U) sum += chain_.values[i];
      if ((h.saved >> (i - 1)) & 1U) sum += chain_.stages[i - 1].saved;
    }
    return sum;
  }
  [[nodiscard]] static bool holds(const Held& h, std::uint32_t value) {
    return value == 0 || ((h.values | h.saved) >> (value - 1)) & 1U;
  }
  void reach(const Held& h, std::int64_t time) {
    if (bytes(h) > memory_ || time >= time_[code(h)]) return;
    time_[code(h)] = time;
    queue_.emplace(time, code(h));
  }
  void leave(const Held& held, std::int64_t time);

  const Chain& chain_;
  std::uint32_t n_;
  std::int64_t memory_;
  std::vector<std::int64_t> time_;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue_;
};

void Machine::leave(const Held& held, std::int64_t time) {
  const std::int64_t now = bytes(held);
  for (std::uint32_t i = 1; i <= n_; ++i) {
    const std::uint32_t bit = 1U << (i - 1);
    const ChainStage& stage = chain_.stages[i - 1];
    reach({held.values & ~bit, held.saved, held.gradient}, time);
    reach({held.values, held.saved & ~bit, held.gradient}, time);
    if (!holds(held, i - 1)) continue;
    const std::int64_t after = time + stage.forward.value();
    if ((held.values & bit) == 0 && now + chain_.values[i] + stage.forward_overhead <= memory_)
      reach({held.values | bit, held.saved, held.gradient}, after);
    if ((held.saved & bit) == 0 && now + stage.saved + stage.forward_overhead <= memory_)
      reach({held.values, held.saved | bit, held.gradient}, after);
    if (held.gradient == i && (held.saved & bit) != 0 &&
        now + chain_.gradients[i - 1] + stage.backward_overhead <= memory_)
      reach({held.values, held.saved & ~bit, i - 1}, time + stage.backward.value());
  }
}

}  // namespace

std::optional<Picoseconds> unrestricted_time(const Chain& chain, std::int64_t memory) {
  check(chain.stages.size() <= most_stages, "the search over what is held is for short chains");
  return Machine(chain, memory).run();
}

}  // namespace plumbline
