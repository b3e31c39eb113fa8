// Laws of pipeline makespans, and agreement with an evaluator that knows nothing but orders and dependencies.

#include "core/cost/pipeline_time.h"

#include <random>

#include "core/program/order_makespan.h"
#include "tests/catch.h"
#include "tests/period_without_barrier.h"
#include "tests/pipeline_makespan.h"
#include "tests/schedules.h"

namespace plumbline::pipeline_time_test {
namespace {

struct Instance {
  std::vector<std::int64_t> forward;
  std::vector<std::int64_t> backward;
  std::vector<std::int64_t> latency;
  std::int64_t micro_batches = 1;
};

std::vector<Picoseconds> times(const std::vector<std::int64_t>& units) {
  std::vector<Picoseconds> result;
  for (const std::int64_t unit : units) result.emplace_back(unit);
  return result;
}

/// Every chunk of a rank takes what the instance says of the rank.
template <class Ask>
std::int64_t asked(const Instance& i, std::int64_t virtual_stages, Ask ask) {
  const auto repeated = [&](const std::vector<std::int64_t>& ranks) {
    std::vector<Picoseconds> all;
    for (std::int64_t v = 0; v < virtual_stages; ++v)
      for (const std::int64_t unit : ranks) all.emplace_back(unit);
    return all;
  };
  const auto forward = repeated(i.forward);
  const auto backward = repeated(i.backward);
  const auto latency = times(i.latency);
  return ask(PipelineTimes{forward, backward, latency, {}, latency.empty() ? Picoseconds(0) : latency.back()}).value();
}
std::int64_t closed_form(Schedule schedule, const Instance& i, std::int64_t virtual_stages = 1) {
  return asked(i, virtual_stages,
               [&](const PipelineTimes& t) { return pipeline_makespan(schedule, t, i.micro_batches, virtual_stages); });
}

class Random {
 public:
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(bits_() % static_cast<std::uint64_t>(high - low + 1));
  }
  Instance instance(std::int64_t most_stages, std::int64_t most_micro_batches, std::int64_t most_latency) {
    Instance i;
    const std::int64_t stages = between(1, most_stages);
    for (std::int64_t s = 0; s < stages; ++s) {
      i.forward.push_back(between(1, 20));
      i.backward.push_back(between(1, 40));
      if (s + 1 < stages) i.latency.push_back(between(0, most_latency));
    }
    i.micro_batches = between(1, most_micro_batches);
    return i;
  }

 private:
  std::mt19937_64 bits_{20240607};
};

/// One pass of one chunk over one micro-batch.
struct Task {
  bool backward = false;
  std::size_t stage = 0;  ///< chunk * ranks + rank
  std::int64_t micro_batch = 0;
};

/// Orders of GPipe and 1F1B on one rank, as the definitions have them.
std::vector<Task> order_of(Schedule schedule, std::size_t ranks, std::size_t rank, std::int64_t m) {
  std::vector<Task> order;
  const std::int64_t warm_up =
      schedule == Schedule::gpipe ? m : std::min<std::int64_t>(m, static_cast<std::int64_t>(ranks - rank) - 1);
  std::int64_t forward = 0;
  std::int64_t backward = 0;
  while (forward < warm_up) order.push_back({false, rank, forward++});
  while (forward < m) {
    order.push_back({false, rank, forward++});
    order.push_back({true, rank, backward++});
  }
  while (backward < m) order.push_back({true, rank, backward++});
  return order;
}

/// Megatron-LM's interleaved order: groups of `ranks` micro-batches per chunk, (v - 1) p + 2 (p - 1 - r) warm-ups.
std::vector<Task> interleaved_order(std::size_t ranks, std::size_t rank, std::int64_t m, std::int64_t v) {
  const auto p = static_cast<std::int64_t>(ranks);
  const auto task = [&](std::int64_t step, bool backward) {
    const std::int64_t chunk = step / p % v;
    return Task{backward, static_cast<std::size_t>((backward ? v - 1 - chunk : chunk) * p) + rank,
                step / (p * v) * p + step % p};
  };
  const std::int64_t warm_up = std::min((v - 1) * p + 2 * (p - 1 - static_cast<std::int64_t>(rank)), m * v);
  std::vector<Task> order;
  for (std::int64_t step = 0; step < warm_up; ++step) order.push_back(task(step, false));
  for (std::int64_t step = warm_up; step < m * v; ++step) {
    order.push_back(task(step, false));
    order.push_back(task(step - warm_up, true));
  }
  for (std::int64_t step = m * v - warm_up; step < m * v; ++step) order.push_back(task(step, true));
  return order;
}

/// Longest path: a task ends after the task before it on its rank and after its input has arrived. Repeats until
/// nothing changes, which needs no order among ranks.
std::int64_t longest_path(const Instance& i, const std::vector<std::vector<Task>>& orders, std::size_t chunks) {
  const std::size_t ranks = orders.size();
  const std::size_t stages = ranks * chunks;
  const auto micro_batches = static_cast<std::size_t>(i.micro_batches);
  std::vector<std::int64_t> ends(2 * stages * micro_batches, 0);
  const auto end_of = [&](const Task& task) -> std::int64_t& {
    return ends[((task.backward ? stages : 0) + task.stage) * micro_batches +
                static_cast<std::size_t>(task.micro_batch)];
  };
  // Latency from `from`'s rank to `to`'s; the last rank hands over to the first as far as its own neighbour is.
  const auto latency = [&](std::size_t from, std::size_t to) {
    if (from % ranks == to % ranks) return std::int64_t{0};
    const std::size_t link = std::min(from % ranks, to % ranks);
    return (from % ranks) + 1 == to % ranks || (to % ranks) + 1 == from % ranks ? i.latency[link] : i.latency.back();
  };
  const auto input_arrives = [&](const Task& task) -> std::int64_t {
    if (!task.backward && task.stage == 0) return 0;
    Task before = task;
    if (task.backward && task.stage + 1 == stages) {
      before.backward = false;
    } else {
      before.stage = task.backward ? task.stage + 1 : task.stage - 1;
    }
    return end_of(before) + latency(before.stage, task.stage);
  };
  bool changed = true;
  std::int64_t makespan = 0;
  while (changed) {
    changed = false;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      std::int64_t clock = 0;
      for (const Task& task : orders[rank]) {
        clock = std::max(clock, input_arrives(task)) + (task.backward ? i.backward[rank] : i.forward[rank]);
        if (end_of(task) != clock) changed = true;
        end_of(task) = clock;
        makespan = std::max(makespan, clock);
      }
    }
  }
  return makespan;
}

std::int64_t naive(Schedule schedule, const Instance& i, std::int64_t virtual_stages = 1) {
  std::vector<std::vector<Task>> orders;
  for (std::size_t rank = 0; rank < i.forward.size(); ++rank)
    orders.push_back(schedule == Schedule::interleaved
                         ? interleaved_order(i.forward.size(), rank, i.micro_batches, virtual_stages)
                         : order_of(schedule, i.forward.size(), rank, i.micro_batches));
  return longest_path(i, orders, static_cast<std::size_t>(virtual_stages));
}

std::string text(const Instance& i) {
  std::ostringstream out;
  out << "f";
  for (const std::int64_t f : i.forward) out << ' ' << f;
  out << "; b";
  for (const std::int64_t b : i.backward) out << ' ' << b;
  out << "; c";
  for (const std::int64_t c : i.latency) out << ' ' << c;
  out << "; m " << i.micro_batches;
  return out.str();
}

TEST_CASE("closed forms of GPipe and 1F1B are the longest path of their orders") {
  Random random;
  for (int n = 0; n < 4000; ++n) {
    const Instance i = random.instance(6, 12, n % 2 == 0 ? 0 : 6);
    INFO(text(i));
    REQUIRE(closed_form(Schedule::gpipe, i) == naive(Schedule::gpipe, i));
    REQUIRE(closed_form(Schedule::one_f_one_b, i) == naive(Schedule::one_f_one_b, i));
  }
}

TEST_CASE("interleaved 1F1B is the longest path of its order, and longer where later chunks wait messages out") {
  Random random;
  for (int n = 0; n < 1000; ++n) {
    Instance i = random.instance(5, 1, n % 2 == 0 ? 0 : 5);
    if (i.forward.size() < 2) continue;
    const std::int64_t v = random.between(2, 4);
    i.micro_batches = static_cast<std::int64_t>(i.forward.size()) * random.between(1, 4);
    INFO(text(i) << ", v " << v);
    REQUIRE(closed_form(Schedule::interleaved, i, v) >= naive(Schedule::interleaved, i, v));
    std::fill(i.latency.begin(), i.latency.end(), 0);
    REQUIRE(closed_form(Schedule::interleaved, i, v) == naive(Schedule::interleaved, i, v));
  }
}

/// The ends of every rank, with once-per-step work, with rounds left out or not.
std::vector<Picoseconds> long_ends(Schedule schedule, const Instance& i, std::int64_t v,
                                   decltype(&pipeline_ends) ends_of, bool leaves_out = true) {
  const auto repeated = [&](const std::vector<std::int64_t>& ranks) {
    std::vector<Picoseconds> all;
    for (std::int64_t chunk = 0; chunk < v; ++chunk)
      for (const std::int64_t unit : ranks) all.emplace_back(unit + chunk);
    return all;
  };
  const auto forward = repeated(i.forward);
  const auto backward = repeated(i.backward);
  const auto latency = times(i.latency);
  const auto start = times(i.backward);
  std::vector<OnceTimes> once;
  for (const Picoseconds time : forward) once.push_back({time, Picoseconds(3), time, time * std::int64_t{4}, time});
  PipelineTimes t{forward, backward, latency};
  // The halves of a split backward take longer together than the whole, by up to four picoseconds.
  std::vector<Picoseconds> half;
  for (const Picoseconds time : backward) half.push_back(time / std::int64_t{2} + Picoseconds(i.micro_batches % 3));
  t.backward_input = t.backward_weight = half;
  t.wrap = latency.back();
  t.start = start;
  t.once = once;
  t.slowdown = 0.1;
  const std::vector<std::uint8_t> shares_link(i.forward.size(), 1);
  t.shares_link = shares_link;
  t.gathers = true;
  t.leaves_out_rounds = leaves_out;
  return ends_of(schedule, t, i.micro_batches, v);
}

TEST_CASE("1F1B and interleaving end the same where periodic rounds are left out") {
  Random random;
  for (int n = 0; n < 600; ++n) {
    Instance i = random.instance(7, 1, std::int64_t{n % 3} * 4);
    const auto p = static_cast<std::int64_t>(i.forward.size());
    if (p < 2) continue;
    if (n % 2 == 0) std::fill(i.forward.begin(), i.forward.end(), i.forward.front());
    if (n % 4 == 0) std::fill(i.backward.begin(), i.backward.end(), i.backward.front());
    i.micro_batches = p * random.between(1, 120);
    const std::int64_t v = random.between(2, 4);
    INFO(text(i) << ", v " << v);
    for (const Schedule schedule : {Schedule::one_f_one_b, Schedule::interleaved}) {
      const std::int64_t chunks = schedule == Schedule::interleaved ? v : 1;
      REQUIRE(long_ends(schedule, i, chunks, &pipeline_ends, true) ==
              long_ends(schedule, i, chunks, &pipeline_ends, false));
    }
  }
}

// Every rank does all that is its own, in whatever order, and hands its last result on.
TEST_CASE("no rank ends before it could without waiting, whatever happens once per step") {
  Random random;
  int met = 0;
  for (int n = 0; n < 600; ++n) {
    Instance i = random.instance(6, 1, std::int64_t{n % 3} * 4);
    const auto p = static_cast<std::int64_t>(i.forward.size());
    if (p < 2) continue;
    i.micro_batches = 2 * p * random.between(1, 4);
    INFO(text(i));
    for (const Schedule schedule : all_schedules) {
      if (schedule == Schedule::none) continue;
      const RankChunks chunks = record_of(schedule).chunks;
      const std::int64_t v = chunks == RankChunks::one ? 1 : chunks == RankChunks::two ? 2 : random.between(2, 4);
      const auto ends = long_ends(schedule, i, v, &pipeline_ends);
      const auto least = long_ends(schedule, i, v, &least_ends);
      REQUIRE(least.size() == ends.size());
      for (std::size_t rank = 0; rank < ends.size(); ++rank) {
        INFO(to_text(schedule) << ", v " << v << ", rank " << rank);
        REQUIRE(least[rank] <= ends[rank]);
        met += least[rank] == ends[rank] ? 1 : 0;
      }
    }
  }
  CHECK(met > 300);  // a bound of nothing would hold too
}

TEST_CASE("a pipeline of a billion micro-batches takes no longer to price than one of a thousand") {
  Instance i{{3, 4, 5}, {7, 7, 9}, {0, 0}, 1'000'000'000};
  const std::int64_t thousand_million = closed_form(Schedule::one_f_one_b, i);
  i.micro_batches = 1'000;
  CHECK(thousand_million == closed_form(Schedule::one_f_one_b, i) + std::int64_t{14} * (1'000'000'000 - 1'000));
}

TEST_CASE("schedules that split the backward take the closed form on equal ranks without latency") {
  Random random;
  for (int n = 0; n < 1500; ++n) {
    Instance i = random.instance(6, 16, n % 2 == 0 ? 0 : 5);
    const auto p = static_cast<std::int64_t>(i.forward.size());
    if (p < 2) continue;
    i.micro_batches += 2 * p;
    INFO(text(i));
    const Picoseconds w(random.between(1, 9));
    const Picoseconds f = w + Picoseconds(random.between(0, 9));
    const Picoseconds b = w + Picoseconds(random.between(0, 9));
    const PipelineShape shape{static_cast<std::int32_t>(p), 1, static_cast<std::int32_t>(i.micro_batches)};
    REQUIRE(order_makespan(compute_schedule(Schedule::zb_h1, shape), equal_stages(shape.stages(), f, b, w, {})) ==
            zb_h1_equal_makespan(p, i.micro_batches, f, b, w));
    const Period period =
        period_without_barrier(compute_schedule(Schedule::zb_h2, shape), equal_stages(shape.stages(), b, b, w, {}));
    REQUIRE(period == Period{zb_h2_equal_period(p, i.micro_batches, b, b, w), 1});
  }
}

TEST_CASE("without a barrier a zero-bubble step takes at least its work, and at most what it takes with one") {
  Random random;
  int shorter = 0;
  for (int n = 0; n < 600; ++n) {
    const Instance i = random.instance(6, 16, n % 2 == 0 ? 0 : 5);
    if (i.forward.size() < 2) continue;
    INFO(text(i));
    for (const Schedule schedule : {Schedule::zb_h1, Schedule::zb_h2, Schedule::zbv}) {
      const std::int64_t v = placement(schedule) == StagePlacement::v_shaped ? 2 : 1;
      const std::int64_t with = closed_form(schedule, i, v);
      const auto early = [&](PipelineTimes t) {
        t.from_own_begin = true;
        return pipeline_makespan(schedule, t, i.micro_batches, v);
      };
      const std::int64_t without = asked(i, v, early);
      CHECK(without <= with);
      shorter += without < with ? 1 : 0;
    }
  }
  CHECK(shorter > 100);
}

TEST_CASE("no stage, link or micro-batch that takes longer shortens 1F1B") {
  Random random;
  for (int n = 0; n < 2000; ++n) {
    const Instance i = random.instance(7, 20, 5);
    const std::int64_t before = closed_form(Schedule::one_f_one_b, i);
    const auto longer = [&](auto change) {
      Instance slower = i;
      change(slower);
      return closed_form(Schedule::one_f_one_b, slower);
    };
    const auto stage = static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(i.forward.size()) - 1));
    INFO(text(i) << ", stage " << stage);
    REQUIRE(longer([&](Instance& s) { s.forward[stage] += 3; }) >= before);
    REQUIRE(longer([&](Instance& s) { s.backward[stage] += 3; }) >= before);
    REQUIRE(longer([&](Instance& s) { ++s.micro_batches; }) > before);
    if (stage < i.latency.size()) REQUIRE(longer([&](Instance& s) { ++s.latency[stage]; }) >= before);
  }
}

TEST_CASE("time reversal, forward and backward exchanged, keeps the makespan of 1F1B") {
  Random random;
  for (int n = 0; n < 2000; ++n) {
    const Instance i = random.instance(7, 20, 5);
    Instance reversed = i;
    std::swap(reversed.forward, reversed.backward);
    INFO(text(i));
    REQUIRE(closed_form(Schedule::one_f_one_b, i) == closed_form(Schedule::one_f_one_b, reversed));
  }
}

}  // namespace
}  // namespace plumbline::pipeline_time_test
