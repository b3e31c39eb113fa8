// The toy planner: eight equal layers, every plan enumerated, against the best plans that the partitions find.
//
// fl = 24 mbs/tp + (tp > 1 ? 2 mbs : 0), hf = 12 mbs/tp on the last stage; t_s = 3 (l fl + hf) + r fl;
// P_s = 40 l + 30 [first] + 30 [last]; K_s = m (gpipe) or min(m, pp - s);
// mem_s = 2 P_s/tp + 4 P_s/(tp (zero ? dp : 1)) + (mbs/tp)(K_s ((l - r) 12 + 2 r) + (r > 0 ? 12 : 0));
// T = sum t + (m - 1) max t + 6 mbs (pp - 1) + (2 (dp - 1)/dp) max P_s/(4 tp); cost = N T.

#include "planner/pareto/front.h"
#include "planner/partition/partition.h"
#include "tests/catch.h"
#include "tests/reference/oracles/instances.h"

namespace plumbline::toy_planner_test {
namespace {

constexpr std::int64_t unit = 256;  // every quantity is a multiple of 1/256
constexpr std::int64_t layers = 8;
constexpr std::int64_t sequences = 16;

struct Outer {
  std::int64_t gpus, tp, pp, dp, mbs, m, zero;
  bool gpipe;
};

std::vector<Outer> outers() {
  std::vector<Outer> all;
  for (const std::int64_t n : {1, 2, 4, 8, 16})
    for (const std::int64_t tp : {1, 2, 4})
      for (const std::int64_t pp : {1, 2, 4, 8})
        for (const std::int64_t mbs : {1, 2, 4}) {
          if (n % (tp * pp) != 0) continue;
          const std::int64_t dp = n / (tp * pp);
          if (sequences % (dp * mbs) != 0) continue;
          for (const bool gpipe : {false, true})
            for (const std::int64_t zero : {0, 1})
              if ((pp > 1 || !gpipe) && (dp > 1 || zero == 0))
                all.push_back({n, tp, pp, dp, mbs, sequences / (dp * mbs), zero, gpipe});
        }
  return all;
}

std::int64_t parameters(const Outer& o, std::int64_t s, std::int64_t l) {
  return 40 * l + (s == 0 ? 30 : 0) + (s + 1 == o.pp ? 30 : 0);
}
std::int64_t stage_time(const Outer& o, std::int64_t s, std::int64_t l, std::int64_t r) {
  const std::int64_t fl = unit * 24 * o.mbs / o.tp + (o.tp > 1 ? unit * 2 * o.mbs : 0);
  const std::int64_t hf = s + 1 == o.pp ? unit * 12 * o.mbs / o.tp : 0;
  return 3 * (l * fl + hf) + r * fl;
}
std::int64_t stage_memory(const Outer& o, std::int64_t s, std::int64_t l, std::int64_t r) {
  const std::int64_t p = unit * parameters(o, s, l);
  const std::int64_t in_flight = o.gpipe ? o.m : std::min(o.m, o.pp - s);
  return 2 * p / o.tp + 4 * p / (o.tp * (o.zero == 1 ? o.dp : 1)) +
         unit * o.mbs * (in_flight * ((l - r) * 12 + 2 * r) + (r > 0 ? 12 : 0)) / o.tp;
}
std::int64_t fixed_time(const Outer& o, std::int64_t largest_parameters) {
  return unit * 6 * o.mbs * (o.pp - 1) + unit * 2 * (o.dp - 1) * largest_parameters / (o.dp * 4 * o.tp);
}

struct Plan {
  std::int64_t time = 0, memory = 0, gpus = 0;
};

/// Visits every composition and every number of recomputed layers per stage.
struct Walk {
  const Outer& outer;
  std::vector<Plan>& plans;
  void from(std::int64_t s, std::int64_t left, std::int64_t sum, std::int64_t slowest, std::int64_t memory,
            std::int64_t largest) {
    if (s == outer.pp) {
      plans.push_back({sum + (outer.m - 1) * slowest + fixed_time(outer, largest), memory, outer.gpus});
      return;
    }
    const std::int64_t least = s + 1 == outer.pp ? left : 1;
    for (std::int64_t l = least; l <= left - (outer.pp - s - 1); ++l)
      for (std::int64_t r = 0; r <= l; ++r) {
        const std::int64_t t = stage_time(outer, s, l, r);
        from(s + 1, left - l, sum + t, std::max(slowest, t), std::max(memory, stage_memory(outer, s, l, r)),
             std::max(largest, parameters(outer, s, l)));
      }
  }
};

const std::vector<Plan>& all_plans() {
  static const std::vector<Plan> plans = [] {
    std::vector<Plan> all;
    for (const Outer& outer : outers()) Walk{outer, all}.from(0, layers, 0, 0, 0, 0);
    return all;
  }();
  return plans;
}

/// The planner's way: least recompute per stage, the sum-and-max partition for every cap on parameters.
std::optional<std::int64_t> best_time(const Outer& o, std::int64_t memory) {
  std::optional<std::int64_t> best;
  for (std::int64_t cap = parameters(o, 1, 1); cap <= parameters(o, 0, layers) + 30; cap += 10) {
    StagePrices prices(static_cast<std::int32_t>(o.pp), layers);
    for (std::int32_t s = 0; s < o.pp; ++s)
      for (std::int32_t first = 0; first < layers; ++first)
        for (std::int32_t last = first + 1; last <= layers; ++last) {
          const std::int64_t l = last - first;
          std::int64_t r = 0;
          while (r <= l && stage_memory(o, s, l, r) > unit * memory) ++r;
          if (r <= l && parameters(o, s, l) <= cap)
            prices.set(s, first, last, {{}, Picoseconds(stage_time(o, s, l, r))});
        }
    const auto found = sum_and_max_partition(prices, o.m);
    if (!found) continue;
    const std::int64_t time = found->value.value() + fixed_time(o, cap);
    if (!best || time < *best) best = time;
  }
  return best;
}

std::optional<std::int64_t> scaled(std::optional<std::int64_t> eighths) {
  return eighths ? std::optional(*eighths * (unit / 8)) : std::nullopt;
}

TEST_CASE("the toy planner's queries are answered as by enumeration of all plans") {
  CHECK(for_each_instance("toy", [](JsonObject& row) {
          std::size_t queries = 0;
          for (const JsonPlace& place : row.at("queries").elements()) {
            JsonObject query(place);
            const std::int64_t memory = count_at(query, "memory");
            const std::int64_t gpus = count_at(query, "gpus");
            INFO("memory " << memory << ", gpus " << gpus);
            std::int64_t total = 0;
            std::int64_t feasible = 0;
            for (const Plan& plan : all_plans()) {
              if (gpus != 0 && plan.gpus != gpus) continue;
              ++total;
              if (plan.memory <= unit * memory) ++feasible;
            }
            CHECK(total == count_at(query, "total"));
            CHECK(feasible == count_at(query, "feasible"));
            std::optional<std::int64_t> time, cost, fewest;
            const auto lower = [](std::optional<std::int64_t>& value, std::int64_t candidate) {
              value = std::min(value.value_or(candidate), candidate);
            };
            for (const Outer& outer : outers()) {
              if (gpus != 0 && outer.gpus != gpus) continue;
              const auto best = best_time(outer, memory);
              if (!best) continue;
              lower(time, *best);
              lower(cost, outer.gpus * *best);
              lower(fewest, outer.gpus);
            }
            CHECK(time == scaled(solved_at(query, "time_eighths")));
            CHECK(cost == scaled(solved_at(query, "cost_eighths")));
            CHECK(fewest == solved_at(query, "fewest_gpus"));
            ++queries;
          }
          CHECK(queries == 9);
        }) == 1);
}

TEST_CASE("the toy planner's fronts are those of all plans") {
  CHECK(for_each_instance("pareto_toy", [](JsonObject& row) {
          const auto& objectives = row.at("objectives").elements();
          const std::int64_t gpus = count_at(row, "gpus");
          std::vector<ParetoPoint<3>> points;
          for (const Plan& plan : all_plans()) {
            if (gpus != 0 && plan.gpus != gpus) continue;
            ParetoPoint<3> point{};
            for (std::size_t k = 0; k < objectives.size(); ++k) {
              const std::string& name = objectives[k].string();
              point[k] = name == "time"     ? plan.time
                         : name == "memory" ? plan.memory
                         : name == "cost"   ? plan.time * plan.gpus
                                            : plan.gpus * unit;
            }
            points.push_back(point);
          }
          std::vector<std::vector<std::int64_t>> front;
          for (const std::size_t i : pareto_front(points)) {
            front.emplace_back();
            for (std::size_t k = 0; k < objectives.size(); ++k) front.back().push_back(points[i][k] / (unit / 8));
          }
          auto solved = lists_at(row, "front_eighths");
          std::sort(solved.begin(), solved.end());
          std::sort(front.begin(), front.end());
          INFO(row.at("id").string());
          CHECK(front == solved);
        }) == 3);
}

}  // namespace
}  // namespace plumbline::toy_planner_test
