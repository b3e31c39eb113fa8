#include "core/simulate/steady_state.h"

#include <algorithm>
#include <tuple>

#include "core/program/action_kinds.h"
#include "core/program/steady_periods.h"

namespace plumbline {
namespace {

/// Searches one program for periods that repeat in time.
class SteadySearch {
 public:
  SteadySearch(const Program& program, const Timeline& timeline, const OrderCut& cut)
      : program_(program), timeline_(timeline), cut_(cut) {}

  std::optional<SteadyState> run() {
    if (!find_begins()) return std::nullopt;
    find_oldest();
    const auto found = steady_periods(
        ranks_,
        [this](std::size_t rank, std::int64_t i, std::int64_t length, std::int32_t periods) {
          return shift(rank, i, length, periods);
        },
        [this](std::int32_t periods) { return is_apart(periods); });
    if (!found) return std::nullopt;
    SteadyState steady{std::int64_t{found->periods} * cut_.period, found->time, {}, {}};
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      steady.first.push_back(static_cast<std::int32_t>(begin_before(rank, found->periods)));
      steady.cut.push_back(static_cast<std::int32_t>(ranks_[rank].begins.back()));
      if (grows(rank, steady.first.back(), steady.cut.back())) return std::nullopt;
    }
    return steady;
  }

 private:
  [[nodiscard]] std::int64_t begin_before(std::size_t rank, std::int64_t periods) const {
    const std::vector<std::int64_t>& begins = ranks_[rank].begins;
    return begins[begins.size() - 1 - static_cast<std::size_t>(periods)];
  }
  [[nodiscard]] const Action& action(std::size_t rank, std::int64_t i) const {
    return program_.ranks[rank].actions[static_cast<std::size_t>(i)];
  }
  [[nodiscard]] const Span& span(std::size_t rank, std::int64_t i) const {
    return timeline_.of_rank[rank][static_cast<std::size_t>(i)];
  }

  bool find_begins() {
    for (const RankProgram& rank : program_.ranks) {
      std::vector<std::int64_t>& begins = ranks_.emplace_back().begins;
      std::int32_t next = cut_.from + (cut_.micro_batch - cut_.from) % cut_.period;
      for (std::int64_t i = 0; i < std::ssize(rank.actions) && next <= cut_.micro_batch; ++i) {
        const Action& a = rank.actions[static_cast<std::size_t>(i)];
        if (a.chunk != 0 || a.micro_batch != next || a.pass() != Pass::forward) continue;
        begins.push_back(i);
        next += cut_.period;
      }
      if (next <= cut_.micro_batch || begins.size() != ranks_.front().begins.size()) return false;
    }
    return true;
  }

  void find_oldest() {
    for (PeriodicRank& rank : ranks_) rank.oldest = rank.begins.back();
    for (std::size_t r = 0; r < ranks_.size(); ++r)
      for (std::int64_t i = ranks_[r].begins.back(); i < std::ssize(program_.ranks[r].actions); ++i) {
        const Action& a = action(r, i);
        for (const std::int32_t need : a.needs)
          if (need >= 0 && !is_settled(r, need)) ranks_[r].oldest = std::min<std::int64_t>(ranks_[r].oldest, need);
        const StageMessage* received = received_by(a);
        if (received == nullptr) continue;
        PeriodicRank& sender = ranks_[static_cast<std::size_t>(received->peer)];
        sender.oldest = std::min<std::int64_t>(sender.oldest, received->peer_action);
      }
  }

  /// Whether an action comes before the repeating part, such as the gather of a chunk's parameters that is shared by
  /// all micro-batches: `is_apart` sees that it has ended, and then nothing waits for it.
  [[nodiscard]] bool is_settled(std::size_t rank, std::int32_t action) const {
    return action < ranks_[rank].begins.front();
  }

  /// By how much an action starts and ends later than the same one some periods before, if it is the same.
  [[nodiscard]] std::optional<Picoseconds> shift(std::size_t rank, std::int64_t i, std::int64_t length,
                                                 std::int32_t periods) const {
    const Picoseconds by = span(rank, i).start - span(rank, i - length).start;
    if (span(rank, i).end - span(rank, i - length).end != by) return std::nullopt;
    return repeats(rank, i, length, periods) ? std::optional(by) : std::nullopt;
  }
  /// Whether an action does what another did some periods before.
  [[nodiscard]] bool repeats(std::size_t rank, std::int64_t i, std::int64_t length, std::int32_t periods) const {
    const Action& now = action(rank, i);
    const Action& before = action(rank, i - length);
    const auto of_own = static_cast<std::int32_t>(length);
    if (now.micro_batch != (before.micro_batch < 0 ? before.micro_batch : before.micro_batch + periods * cut_.period))
      return false;
    if (const StageMessage* message = message_of(now); message != nullptr && !repeats(*message, before, periods))
      return false;
    for (std::size_t n = 0; n < now.needs.size(); ++n) {
      const std::int32_t need = before.needs[n];
      if (now.needs[n] != (need >= 0 && !is_settled(rank, need) ? need + of_own : need)) return false;
    }
    return is_same(now, before) && uses_alike(rank, now, before);
  }
  /// Whether a message goes with one that goes as many periods before.
  [[nodiscard]] bool repeats(const StageMessage& now, const Action& action_before, std::int32_t periods) const {
    const StageMessage* before = message_of(action_before);
    if (before == nullptr || before->peer_action < 0) return before != nullptr && now.peer_action < 0;
    const auto peer = static_cast<std::size_t>(now.peer);
    return now.peer_action - before->peer_action == ranks_[peer].begins.back() - begin_before(peer, periods);
  }
  /// But for what is counted in periods, and where units are.
  static bool is_same(const Action& a, const Action& b) {
    return a.issue == b.issue && a.chunk == b.chunk && without_places(a.what) == without_places(b.what);
  }
  static ActionPayload without_places(ActionPayload what) {
    if (auto* pass = std::get_if<ComputePass>(&what)) pass->gradients = UnitSlot::none;
    if (auto* message = std::get_if<StageMessage>(&what)) message->peer_action = -1;
    if (auto* gather = std::get_if<ParameterGather>(&what)) gather->slot = UnitSlot::none, gather->units = {};
    if (auto* reduction = std::get_if<GradientReduction>(&what)) reduction->units = {};
    return what;
  }
  [[nodiscard]] bool uses_alike(std::size_t rank, const Action& a, const Action& b) const {
    if (a.uses != b.uses) return false;
    const RankProgram& program = program_.ranks[rank];
    const auto key = [&](const BufferUse& use) {
      const Buffer& buffer = program.buffers[static_cast<std::size_t>(use.buffer)];
      return std::tuple(use.access, buffer.memory_class, buffer.chunk, buffer.segment, buffer.bytes);
    };
    const std::span<const BufferUse> uses = uses_of(a, program);
    return std::equal(uses.begin(), uses.end(), uses_of(b, program).begin(),
                      [&](const BufferUse& one, const BufferUse& other) { return key(one) == key(other); });
  }

  /// Whether periods run alongside their neighbours alone: then what its actions share rates with is alike too.
  [[nodiscard]] bool is_apart(std::int32_t periods) const {
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank)
      for (const std::int64_t before : {0, 1}) {
        Picoseconds latest(0);
        for (std::int64_t i = 0; i < begin_before(rank, (before + 1) * periods); ++i)
          latest = std::max(latest, span(rank, i).end);
        for (auto i = begin_before(rank, before * periods); i < std::ssize(timeline_.of_rank[rank]); ++i)
          if (span(rank, i).start < latest && span(rank, i).length() > Picoseconds(0)) return false;
      }
    return true;
  }

  /// Whether a period leaves more allocated than it found.
  [[nodiscard]] bool grows(std::size_t rank, std::int64_t first, std::int64_t last) const {
    const RankProgram& program = program_.ranks[rank];
    MemoryBreakdown change;
    for (std::int64_t i = first; i < last; ++i)
      for (const BufferUse& use : uses_of(action(rank, i), program)) {
        const Buffer& buffer = program.buffers[static_cast<std::size_t>(use.buffer)];
        if (use.access == Access::allocate) change[buffer.memory_class] += buffer.bytes;
        if (use.access == Access::release) change[buffer.memory_class] -= buffer.bytes;
      }
    return change.by_class != MemoryBreakdown{}.by_class;
  }

  const Program& program_;
  const Timeline& timeline_;
  const OrderCut& cut_;
  std::vector<PeriodicRank> ranks_;
};

}  // namespace

std::optional<SteadyState> steady_state(const Program& program, const Timeline& timeline, const OrderCut& cut) {
  return SteadySearch(program, timeline, cut).run();
}

std::string to_text(const LeftOut& left_out) {
  if (left_out.micro_batches == 0) return "";
  return std::to_string(left_out.micro_batches) + " micro-batches like those before";
}

Span gap(const LeftOut& left_out, const Timeline& timeline, std::size_t rank) {
  const Picoseconds end = timeline.of_rank[rank][static_cast<std::size_t>(left_out.cut[rank])].start;
  return {end - left_out.time, end};
}

LeftOut left_out(const SteadyState& steady, std::int64_t micro_batches) {
  const std::int64_t repeats = micro_batches / steady.micro_batches;
  return {micro_batches, repeats, steady.first, steady.cut, repeats * steady.time};
}

void renumber(Program& program, const LeftOut& left_out) {
  program.shape.micro_batches += static_cast<std::int32_t>(left_out.micro_batches);
  for (std::size_t rank = 0; rank < program.ranks.size(); ++rank) {
    std::vector<Action>& actions = program.ranks[rank].actions;
    for (auto i = static_cast<std::size_t>(left_out.cut[rank]); i < actions.size(); ++i)
      if (actions[i].micro_batch >= 0) actions[i].micro_batch += static_cast<std::int32_t>(left_out.micro_batches);
  }
}

void lengthen(Timeline& timeline, const LeftOut& left_out) {
  for (std::size_t rank = 0; rank < timeline.of_rank.size(); ++rank) {
    std::vector<Span>& spans = timeline.of_rank[rank];
    for (auto i = static_cast<std::size_t>(left_out.cut[rank]); i < spans.size(); ++i) {
      spans[i].start += left_out.time;
      spans[i].end += left_out.time;
    }
  }
  for (Picoseconds* end : {&timeline.micro_batches_end, &timeline.reductions_end, &timeline.step, &timeline.end})
    *end += left_out.time;
}

}  // namespace plumbline
