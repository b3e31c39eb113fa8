#include "core/plan/strategy_axes.h"
#include "core/plan/priced_values.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/io/strategy_json.h"
#include "core/plan/legality.h"
#include "planner/question/axis_text.h"
#include "tests/catch.h"

namespace plumbline {
namespace {

/// Every value of an axis that differs from an empty strategy's, or some of them where there are many.
std::vector<Strategy> unusual(const StrategyAxis& axis) {
  std::vector<std::string> values = axis.names;
  if (axis.kind == AxisKind::number)
    values = {std::to_string(std::max<std::int64_t>(axis.least, 2)), std::to_string(axis.most)};
  if (axis.kind == AxisKind::toggle) values = {"on", "off"};
  if (axis.kind == AxisKind::recompute) values = {"full", "every:3", "selective:mlp+layernorm", "offload:5", "optimal"};
  if (axis.kind == AxisKind::layers) values = {"3", "1,0,5"};
  std::vector<Strategy> strategies;
  for (const std::string& value : values) {
    Strategy s;
    read_axis(axis, axis.flag, value, s);
    if (!axis.is_usual(s)) strategies.push_back(s);
  }
  return strategies;
}

TEST_CASE("every member of a strategy is an axis", "[axes]") {
  // A member more does not compile here: it needs a row, and this number.
  const auto& [pp, tp, cp, communication, ep, etp, dp, virtual_stages, schedule, micro_batch, micro_batches, zero,
               group, prefetch, unit, secondary, sequence, flash, recompute, split, layers] = Strategy{};
  static_cast<void>(std::tie(pp, tp, cp, communication, ep, etp, dp, virtual_stages, schedule, micro_batch,
                             micro_batches, zero, group, prefetch, unit, secondary, sequence, flash, recompute, split,
                             layers));
  constexpr std::size_t members = 21;
  CHECK(strategy_axes().size() == members);
  std::set<std::string> keys;
  std::set<std::string> flags;
  for (const StrategyAxis& axis : strategy_axes()) {
    keys.insert(axis.key);
    flags.insert(axis.flag);
  }
  CHECK(keys.size() == members);
  CHECK(flags.size() == members);
}

TEST_CASE("an axis changes what it names and nothing else, and is read as it is written", "[axes]") {
  for (const StrategyAxis& axis : strategy_axes()) {
    INFO(axis.key);
    const std::vector<Strategy> strategies = unusual(axis);
    CHECK_FALSE(strategies.empty());
    for (const Strategy& s : strategies) {
      Strategy again;
      read_axis(axis, axis.flag, axis.text(s), again);
      CHECK(again == s);
      for (const StrategyAxis& other : strategy_axes()) CHECK(other.is_usual(s) == (&other != &axis));
    }
  }
}

TEST_CASE("every choice of one value is listed with where it is priced, but what follows from others", "[axes]") {
  std::vector<std::string> others;
  for (const StrategyAxis& axis : strategy_axes()) {
    if (axis.member.empty()) {
      others.push_back(axis.key);
      continue;
    }
    INFO(axis.key);
    const Strategy usual;
    for (const Strategy& s : unusual(axis)) {
      const auto differs = [&](PricedIn in, const auto& of_usual, const auto& of_other) {
        CHECK((of_usual != of_other) == (axis.priced_in == in));
      };
      differs(PricedIn::blocks, values_priced_in<PricedIn::blocks>(usual), values_priced_in<PricedIn::blocks>(s));
      differs(PricedIn::layouts, values_priced_in<PricedIn::layouts>(usual), values_priced_in<PricedIn::layouts>(s));
      differs(PricedIn::sharing, values_priced_in<PricedIn::sharing>(usual), values_priced_in<PricedIn::sharing>(s));
      differs(PricedIn::plans, values_priced_in<PricedIn::plans>(usual), values_priced_in<PricedIn::plans>(s));
    }
  }
  CHECK(others == std::vector<std::string>{"micro_batches", "layers_per_stage", "split"});
}

TEST_CASE("a rule of one axis stands in its row, and is checked among all by its id", "[axes]") {
  std::vector<std::string_view> all;
  for (const LegalityRule& rule : legality_rules()) all.push_back(rule.id);
  CHECK(std::is_sorted(all.begin(), all.end()));
  std::map<std::string, std::vector<std::string_view>> own;
  for (const StrategyAxis& axis : strategy_axes())
    for (const StrategyRule& one : axis.rules) {
      own[axis.key].push_back(one.rule.id);
      CHECK(std::count(all.begin(), all.end(), one.rule.id) == 1);
    }
  CHECK(own["tensor_parallel"] == std::vector<std::string_view>{"R02", "R03", "R04"});
  CHECK(own["layers_per_unit"] == std::vector<std::string_view>{"R23"});
  CHECK(own["secondary_shard_group"] == std::vector<std::string_view>{"R28"});
}

// 4 x 2 ranks hold the same parameters.
TEST_CASE("sharded states have several copies where a group is smaller than the ranks that hold the same", "[axes]") {
  Strategy s;
  s.data_parallel = 4;
  s.context_parallel = 2;
  CHECK_FALSE(s.is_hybrid());
  s.zero_stage = 3;
  s.shard_over_all();
  CHECK(s.shard_group == 8);
  CHECK_FALSE(s.is_hybrid());
  CHECK(zero_text(s) == "3");
  CHECK(strategy_axis("--shard-group").refined(s) == std::vector<std::int64_t>{2, 4, 8});
  s.shard_group = 2;
  CHECK(s.is_hybrid());
  CHECK(zero_text(s) == "3/2");
  s.zero_stage = 0;
  s.shard_over_all();
  CHECK(s.shard_group == 1);
}

TEST_CASE("a plan file holds what is unusual, and is read as it is written", "[axes]") {
  for (const StrategyAxis& axis : strategy_axes())
    for (const Strategy& s : unusual(axis)) {
      INFO(axis.key + " " + axis.text(s));
      Training training;
      const Json json = to_json(s, training);
      CHECK(json.find(axis.key) != nullptr);
      CHECK(strategy_from_json(JsonPlace(json, ""), training) == s);
    }
}

TEST_CASE("axes that count ranks or layers have neighbours within their limits", "[axes]") {
  Strategy s;
  s.layers_per_unit = 6;
  CHECK(strategy_axis("--layers-per-unit").neighbours(s) == std::vector<std::int64_t>{12, 3});
  s.layers_per_unit = 1;
  CHECK(strategy_axis("--layers-per-unit").neighbours(s) == std::vector<std::int64_t>{2});
  CHECK(strategy_axis("--prefetch").neighbours(s) == std::vector<std::int64_t>{0});
  s.zero_stage = 3;
  CHECK(strategy_axis("--zero").neighbours(s) == std::vector<std::int64_t>{1});
}

TEST_CASE("a secondary shard group is searched only where it is named", "[axes]") {
  for (const StrategyAxis& axis : strategy_axes())
    CHECK((axis.considered == Considered::when_named) == (axis.flag == "--secondary-shard-group"));
}

TEST_CASE("details of an axis mean something with it, and are usual again when it changes", "[axes]") {
  Strategy s;
  for (const StrategyAxis* detail : details_of("--zero")) {
    CHECK_FALSE(detail->means_something(s));
    detail->set(s, detail->neighbours(s).front());
  }
  CHECK(s.prefetch == ParameterPrefetch::off);
  CHECK(s.layers_per_unit == 2);
  CHECK(s.secondary_shard_group == 2);
  reset_details("--zero", s);
  CHECK(s == Strategy{});
}

}  // namespace
}  // namespace plumbline
