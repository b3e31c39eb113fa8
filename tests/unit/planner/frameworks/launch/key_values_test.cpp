// Values of keys of launch files.

#include "planner/frameworks/launch/key_values.h"

#include "core/base/errors.h"
#include "tests/catch.h"

namespace plumbline {
namespace {

TEST_CASE("counts are whole numbers however they are written") {
  CHECK(count_value(Json(7)) == 7);
  CHECK(count_value(Json(2e8)) == 200'000'000);
  CHECK(count_value(Json(0)) == 0);
  CHECK_THROWS_AS(count_value(Json(0), 1), InputError);
  CHECK_THROWS_AS(count_value(Json(1.5)), InputError);
  CHECK_THROWS_AS(count_value(Json(1e300)), InputError);
  CHECK_THROWS_AS(count_value(Json("4")), InputError);
}

TEST_CASE("a degree is at least one and no more than a million ranks") {
  CHECK(degree_value(Json(8)) == 8);
  CHECK_THROWS_AS(degree_value(Json(0)), InputError);
  CHECK_THROWS_AS(degree_value(Json(2'000'000)), InputError);
}

TEST_CASE("flags are booleans or their words") {
  CHECK(flag_value(Json(true)));
  CHECK(flag_value(Json("True")));
  CHECK_FALSE(flag_value(Json("false")));
  CHECK_THROWS_AS(flag_value(Json("perhaps")), InputError);
  CHECK_THROWS_AS(flag_value(Json(1)), InputError);
  CHECK(number_value(Json(3)) == 3.0);
  CHECK(word_value(Json("cpu")) == "cpu");
  CHECK_THROWS_AS(word_value(Json(1)), InputError);
}

TEST_CASE("what is not said and what is usual is not written") {
  CHECK_FALSE(written(std::optional<std::int64_t>{}));
  CHECK(*written(std::optional<std::int64_t>(5))->if_integer() == 5);
  CHECK_FALSE(written_degree(1));
  CHECK_FALSE(written_degree(std::nullopt));
  CHECK(*written_degree(4)->if_integer() == 4);
  CHECK_FALSE(written_where(false));
  CHECK(*written_where(true)->if_bool());
}

}  // namespace
}  // namespace plumbline
