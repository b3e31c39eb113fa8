#include "core/base/option.h"

#include <map>
#include <set>

#include "core/plan/strategy_axes.h"
#include "planner/session/flags/foreign_flags.h"
#include "planner/session/question_flags.h"
#include "planner/session/search/search_flags.h"
#include "planner/session/simulate/simulation_flags.h"
#include "planner/session/size/size.h"
#include "tests/catch.h"

namespace plumbline::session {
namespace {

/// Gives every option of a table a text and reads it back through the table.
template <class Flags>
void check_table(const Options<Flags>& options) {
  std::set<std::string> seen;
  for (const Option<Flags>& option : options) {
    INFO(option.words.flag);
    CHECK(seen.insert(option.words.flag).second);
    CHECK_FALSE(option.words.help.empty());
    const int places = (option.text ? 1 : 0) + (option.is_on ? 1 : 0) + (option.list ? 1 : 0);
    CHECK(places == 1);
    CHECK(option.words.values.empty() == static_cast<bool>(option.is_on));
    Flags flags;
    if (option.text) option.text(flags) = "x";
    for (const Option<Flags>& other : options)
      if (option.text && other.text) CHECK(other.text(flags).has_value() == (&other == &option));
  }
}

TEST_CASE("each option has a place of its own", "[session]") {
  for (const Recipes recipes : {Recipes::one, Recipes::several})
    for (const DeviceCounts counts : {DeviceCounts::one, DeviceCounts::several})
      check_table(question_options(recipes, counts));
  check_table(search_options());
  check_table(ranking_options());
  check_table(size_options());
  check_table(simulation_options());
}

TEST_CASE("a question takes several recipes only where they may be given", "[session]") {
  const auto several = [](Recipes recipes) {
    std::vector<std::string> flags;
    for (const auto& option : question_options(recipes, DeviceCounts::one))
      if (option.words.several) flags.push_back(option.words.flag);
    return flags;
  };
  CHECK(several(Recipes::one).empty());
  CHECK(several(Recipes::several) == std::vector<std::string>{"--precision", "--optimizer", "--lora-rank"});
}

TEST_CASE("a flag that a file says too is found, and only where it was given", "[session]") {
  QuestionFlags flags;
  CHECK(flags.given_with_plan().empty());
  flags.tokens = "1T";  // of the run, which no file of a plan fixes
  CHECK(flags.given_with_plan().empty());
  flags.optimizer = "sgd";
  CHECK(flags.given_with_import() == "--optimizer");
  flags.dimensions = {"sequence=512"};
  CHECK(flags.given_with_plan() == "--dim");
  CHECK(flags.given_with_import() == "--optimizer");
}

TEST_CASE("names of other programs lead to ours", "[session]") {
  const std::vector<std::string> names{"--model",
                                       "--machine",
                                       "--gpus",
                                       "--seq-len",
                                       "--global-batch",
                                       "--precision",
                                       "--tp",
                                       "--pp",
                                       "--zero",
                                       "--micro-batch",
                                       "--flash-attention",
                                       "--recompute",
                                       "--virtual-stages",
                                       "--shard-group",
                                       "--layers-per-stage"};
  const std::map<std::string, std::string> expected{{"--tp-size", "--tp"},
                                                    {"--nnodes", "--gpus"},
                                                    {"--nodes", "--gpus"},
                                                    {"--flash-attn", "--flash-attention"},
                                                    {"--gradient-accumulation-steps", "--global-batch"},
                                                    {"--bfloat16", "--precision"},
                                                    {"--fsdp", "--zero"},
                                                    {"--activation-checkpointing", "--recompute"},
                                                    {"--per-device-train-batch-size", "--micro-batch"},
                                                    {"--num-distributed-optimizer-instances", "--shard-group"}};
  for (const auto& [theirs, ours] : expected) {
    INFO(theirs);
    CHECK(nearest_flag(theirs, names) == ours);
  }
}

TEST_CASE("no name of another program is a flag of ours or means two", "[session]") {
  std::map<std::string_view, std::string> meant;
  std::set<std::string> ours;
  const auto add = [&](const std::string& flag, const std::vector<std::string_view>& foreign) {
    ours.insert(flag);
    for (const std::string_view one : foreign) {
      INFO(one);
      CHECK(meant.try_emplace(one, flag).second);
    }
  };
  for (const StrategyAxis& axis : strategy_axes()) add(axis.flag, axis.foreign);
  for (const auto& option : question_options(Recipes::one, DeviceCounts::one))
    add(option.words.flag, option.words.foreign);
  for (const auto& option : search_options()) add(option.words.flag, option.words.foreign);
  for (const auto& [theirs, flag] : meant) {
    INFO(theirs);
    CHECK_FALSE(ours.contains(std::string(theirs)));
  }
}

}  // namespace
}  // namespace plumbline::session
