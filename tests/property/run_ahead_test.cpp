// Ranks run ahead of the others' events while nothing is queued on them. A copy that lasts longer than the step keeps
// every rank from it, and slows nothing: all other actions must start and end as without it, to the picosecond.

#include <algorithm>

#include "core/program/action_kinds.h"
#include "core/simulate/timeline.h"
#include "planner/pricing/simulated.h"
#include "tests/catch.h"
#include "tests/random_questions.h"

namespace plumbline {
namespace {

bool copies_alongside(const Program& program) {
  for (const RankProgram& rank : program.ranks)
    for (const Action& a : rank.actions)
      if (a.stream() == Stream::copy && a.issue != Issue::in_order) return true;
  return false;
}

/// Barriers wait for whatever runs, so for the long copies too: sums over ranks of a group stand for what has one.
void drop_barriers(Program& program) {
  for (RankProgram& rank : program.ranks)
    for (Action& a : rank.actions)
      if (a.barrier() != Barrier::none) a.what = PartialSum{};
}

/// Odd numbers of picoseconds, so that hardly anything ends at the same time as something else; some take none.
ActionTimes random_times(const Program& program, RandomQuestions& random) {
  ActionTimes times;
  times.overlap_slowdown = 0.1 * random.between(0, 4);
  const bool shares_links = random.between(0, 1) == 1;
  for (std::int32_t r = 0; r < std::ssize(program.ranks); ++r) {
    std::vector<Picoseconds>& row = times.of_rank.emplace_back();
    for (const Action& a : program.ranks[static_cast<std::size_t>(r)].actions) {
      const bool takes_none = receives_in_transit(a);  // the message takes it
      const std::int64_t some = std::int64_t{1'000'003} * random.between(1, 997) + random.between(0, 999'999);
      row.emplace_back(takes_none || random.between(0, 9) == 0 ? 0 : some);
    }
    if (!shares_links) continue;
    StreamLinks& links = times.links.emplace_back();
    links.fill(-1);
    links[static_cast<std::size_t>(Stream::data)] = links[static_cast<std::size_t>(Stream::pipeline)] = r;
  }
  return times;
}

void add_long_copies(Program& program, ActionTimes& times, Picoseconds longer_than_all) {
  ++program.overlapped_actions;
  for (std::size_t r = 0; r < program.ranks.size(); ++r) {
    std::vector<Action>& actions = program.ranks[r].actions;
    for (Action& a : actions) {
      for (std::int32_t& need : a.needs) need += need >= 0 ? 1 : 0;
      if (auto* message = std::get_if<StageMessage>(&a.what); message != nullptr && message->peer_action >= 0)
        ++message->peer_action;
    }
    Action copy;
    copy.what = HostCopy{};
    copy.issue = Issue::after_last;
    actions.insert(actions.begin(), copy);
    times.of_rank[r].insert(times.of_rank[r].begin(), longer_than_all);
  }
}

TEST_CASE("ranks that run ahead end all actions when event by event does") {
  RandomQuestions random(20261125);
  int compared = 0;
  int with_queues = 0;
  while (compared < 60) {
    const auto [question, strategy] = random.next();
    if (strategy.pipeline_stages == 1 || strategy.micro_batches > 40) continue;
    Program program = simulated(question, strategy).program;
    if (copies_alongside(program)) continue;
    ++compared;
    with_queues += program.overlapped_actions > 0 ? 1 : 0;
    INFO(question.text().model << " on " << question.text().machine << ": " << to_text(strategy));
    drop_barriers(program);
    ActionTimes times = random_times(program, random);
    TimelineOptions options;
    if (random.between(0, 2) == 0) options.slowdown.assign(1, 1.25);
    const Timeline ahead = timeline(program, times, options);
    add_long_copies(program, times, std::int64_t{2} * ahead.step + Picoseconds(1));
    const Timeline by_event = timeline(program, times, options);
    std::size_t different = 0;
    for (std::size_t r = 0; r < ahead.of_rank.size(); ++r)
      for (std::size_t i = 0; i < ahead.of_rank[r].size(); ++i)
        different += ahead.of_rank[r][i] == by_event.of_rank[r][i + 1] ? 0U : 1U;
    CHECK(different == 0);
    CHECK(ahead.micro_batches_end == by_event.micro_batches_end);
  }
  CHECK(with_queues > 20);
}

}  // namespace
}  // namespace plumbline
