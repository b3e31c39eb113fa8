#include "core/io/json_difference.h"

#include <algorithm>

namespace plumbline {
namespace {

std::string short_text(const Json& value) {
  constexpr std::size_t most = 60;
  if (value.if_object() != nullptr) return "an object";
  if (const Json::Array* array = value.if_array()) {
    const bool is_flat = std::all_of(array->begin(), array->end(), [](const Json& one) {
      return one.if_array() == nullptr && one.if_object() == nullptr;
    });
    if (!is_flat || array->size() > 8) return "a list of " + std::to_string(array->size());
  }
  std::string text = to_json_text(value, -1);
  while (text.ends_with('\n')) text.pop_back();
  return text.size() <= most ? text : text.substr(0, most) + "...";
}

std::optional<double> number_of(const Json& value) {
  if (const auto* integer = value.if_integer()) return static_cast<double>(*integer);
  if (const auto* real = value.if_double()) return *real;
  return std::nullopt;
}

bool are_equal_scalars(const Json& a, const Json& b) {
  if (a.if_integer() != nullptr && b.if_integer() != nullptr) return *a.if_integer() == *b.if_integer();
  const auto x = number_of(a);
  const auto y = number_of(b);
  if (x && y) return *x == *y;
  if (a.if_string() != nullptr && b.if_string() != nullptr) return *a.if_string() == *b.if_string();
  if (a.if_bool() != nullptr && b.if_bool() != nullptr) return *a.if_bool() == *b.if_bool();
  return a.is_null() && b.is_null();
}

std::optional<JsonDifference> first_difference(const Json& found, const Json& expected, const std::string& path);

std::optional<JsonDifference> of_objects(const Json& found, const Json& expected, const std::string& path) {
  for (const auto& [key, value] : *expected.if_object()) {
    const Json* const other = found.find(key);
    if (other == nullptr) return JsonDifference{path + "/" + key, "is missing", short_text(value)};
    if (auto difference = first_difference(*other, value, path + "/" + key)) return difference;
  }
  for (const auto& [key, value] : *found.if_object())
    if (expected.find(key) == nullptr) return JsonDifference{path + "/" + key, short_text(value), "no such key"};
  return std::nullopt;
}

std::optional<JsonDifference> of_arrays(const Json& found, const Json& expected, const std::string& path) {
  const Json::Array& a = *found.if_array();
  const Json::Array& b = *expected.if_array();
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    if (auto difference = first_difference(a[i], b[i], path + "/" + std::to_string(i))) return difference;
  if (a.size() == b.size()) return std::nullopt;
  return JsonDifference{path, "a list of " + std::to_string(a.size()), "a list of " + std::to_string(b.size())};
}

std::optional<JsonDifference> first_difference(const Json& found, const Json& expected, const std::string& path) {
  if (found.if_object() != nullptr && expected.if_object() != nullptr) return of_objects(found, expected, path);
  if (found.if_array() != nullptr && expected.if_array() != nullptr) return of_arrays(found, expected, path);
  if (are_equal_scalars(found, expected)) return std::nullopt;
  return JsonDifference{path, short_text(found), short_text(expected)};
}

}  // namespace

std::optional<JsonDifference> json_difference(const Json& found, const Json& expected) {
  return first_difference(found, expected, "");
}

}  // namespace plumbline
