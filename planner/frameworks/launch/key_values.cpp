#include "planner/frameworks/launch/key_values.h"

#include <cmath>

namespace plumbline {
namespace {

constexpr std::int64_t most = 1'000'000'000'000;
constexpr std::int64_t most_ranks = 1'000'000;

/// 2e8 is how configuration files write 200 000 000.
Json whole(const Json& value) {
  const double* const number = value.if_double();
  if (number == nullptr || std::floor(*number) != *number || std::abs(*number) > static_cast<double>(most))
    return value;
  return Json(static_cast<std::int64_t>(*number));
}

}  // namespace

std::int64_t count_value(const Json& value, std::int64_t smallest) {
  const Json number = whole(value);
  return JsonPlace(number, "").integer(smallest, most);
}

std::int32_t degree_value(const Json& value) {
  const Json number = whole(value);
  return static_cast<std::int32_t>(JsonPlace(number, "").integer(1, most_ranks));
}

bool flag_value(const Json& value) {
  if (const std::string* const word = value.if_string()) {
    if (*word == "true" || *word == "True") return true;
    if (*word == "false" || *word == "False") return false;
  }
  return JsonPlace(value, "").boolean();
}

double number_value(const Json& value) { return JsonPlace(value, "").number(-1e15, 1e15); }

const std::string& word_value(const Json& value) { return JsonPlace(value, "").string(); }

std::optional<Json> written_degree(const std::optional<std::int32_t>& degree) {
  if (degree.value_or(1) == 1) return std::nullopt;
  return Json(std::int64_t{*degree});
}

std::optional<Json> written_where(bool holds) { return holds ? std::optional<Json>(Json(true)) : std::nullopt; }

}  // namespace plumbline
