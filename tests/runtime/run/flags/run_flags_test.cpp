// The flags of a run as tables.
#include <set>

#include "runtime/run/flags/rank_flags.h"
#include "runtime/run/flags/training_flags.h"
#include "tests/catch.h"

namespace plumbline {
namespace {

/// Gives every option of a table a text and reads it back through the table.
template <class Flags>
void check_places(const Options<Flags>& options, std::set<std::string>& seen) {
  for (const Option<Flags>& option : options) {
    INFO(option.words.flag);
    CHECK(seen.insert(option.words.flag).second);
    CHECK_FALSE(option.words.help.empty());
    CHECK((option.text ? 1 : 0) + (option.is_on ? 1 : 0) + (option.list ? 1 : 0) == 1);
    CHECK(option.words.values.empty() == static_cast<bool>(option.is_on));
    if (!option.text) continue;
    Flags flags;
    option.text(flags) = "x";
    for (const Option<Flags>& other : options)
      if (other.text) CHECK(other.text(flags).has_value() == (&other == &option));
  }
}

const Option<TrainingFlags>& option_of(const std::string& flag) {
  for (const Option<TrainingFlags>& option : TrainingFlags::option_table())
    if (option.words.flag == flag) return option;
  throw InternalError("there is no flag " + flag);
}

}  // namespace

TEST_CASE("each flag of a run has a place of its own, those of the optimizer and of evaluation too") {
  std::set<std::string> seen;
  check_places(RankFlags::option_table(), seen);
  check_places(TrainingFlags::option_table(), seen);
  for (const char* flag : {"--steps", "--beta1", "--clip", "--held-out", "--override", "--lanes"}) {
    INFO(flag);
    CHECK(seen.count(flag) == 1);
  }
  CHECK(option_of("--prompt").words.group == "Evaluation");
  CHECK(option_of("--beta1").words.group.empty());
}

TEST_CASE("settings to override are refused without a checkpoint to go on from") {
  TrainingFlags flags;
  option_of("--override").list(flags) = {"seed"};
  CHECK_THROWS_AS(flags.continue_training(), InputError);
  option_of("--override").list(flags).clear();
  CHECK_NOTHROW(flags.continue_training());
}

}  // namespace plumbline
