// A run that goes on is the run that was begun, or says what it overrides.
#include "runtime/checkpoint/training_settings.h"

#include "core/base/errors.h"
#include "tests/catch.h"

namespace plumbline::training_settings_test {
namespace {

std::string refusal(const TrainingSettings& now, const std::vector<std::string>& overrides) {
  const TrainingSettings stored{{"seed", std::int64_t{7}}, {"learning-rate", 0.001}, {"lr-schedule", "cosine"}};
  try {
    require_settings(stored, now, overrides, "state/step-00000042");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("A setting that is not the stored one is refused with both, unless it is overridden") {
  CHECK(refusal({{"seed", std::int64_t{7}}, {"learning-rate", 0.001}}, {}).empty());
  CHECK(refusal({{"learning-rate", 0.01}}, {}) ==
        "state/step-00000042: was trained with learning-rate 0.001, not 0.01; expected 0.001, or --override "
        "learning-rate");
  CHECK_FALSE(refusal({{"learning-rate", 0.01}}, {"seed"}).empty());
  CHECK(refusal({{"learning-rate", 0.01}}, {"seed", "learning-rate"}).empty());
  CHECK_FALSE(refusal({{"lr-schedule", "wsd"}}, {"learning-rate"}).empty());
}

TEST_CASE("A setting that was not stored contradicts nothing") { CHECK(refusal({{"new", 1.0}}, {}).empty()); }

TEST_CASE("A stored value is written as its flag takes it") {
  CHECK(flag_text(Json(0.001)) == "0.001");
  CHECK(flag_text(Json(std::int64_t{12})) == "12");
  CHECK(flag_text(Json("cosine")) == "cosine");
  const TrainingSettings stored{{"seed", std::int64_t{7}}, {"lr-schedule", "cosine"}};
  CHECK(stored_flag(stored, "seed") == "7");
  CHECK(stored_flag(stored, "lr-schedule") == "cosine");
  CHECK_FALSE(stored_flag(stored, "clip"));
}

}  // namespace
}  // namespace plumbline::training_settings_test
