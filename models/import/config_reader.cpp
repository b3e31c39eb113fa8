#include "models/import/config_reader.h"

#include <algorithm>

#include "core/base/errors.h"

namespace plumbline {
namespace {

/// Shorter keys are near each other by chance ("n_ctx" and "n_embd").
constexpr std::size_t shortest_key_to_compare = 8;

/// One letter too many, too few or wrong, or two neighbours swapped.
bool is_typing_error(std::string_view a, std::string_view b) {
  while (!a.empty() && !b.empty() && a.front() == b.front()) a.remove_prefix(1), b.remove_prefix(1);
  while (!a.empty() && !b.empty() && a.back() == b.back()) a.remove_suffix(1), b.remove_suffix(1);
  if (a.size() == 2 && b.size() == 2) return a[0] == b[1] && a[1] == b[0];
  return a.size() <= 1 && b.size() <= 1;
}

}  // namespace

ConfigReader::ConfigReader(const JsonPlace& place) : place_(place) { const JsonObject must_be_object(place); }

std::optional<JsonPlace> ConfigReader::find(Keys keys) {
  known_.insert(known_.end(), keys.begin(), keys.end());
  for (const std::string_view key : keys)
    if (const Json* value = place_.value().find(key)) return JsonPlace(*value, pointer_to(key));
  missed_.emplace_back(keys.usual());
  return std::nullopt;
}

std::int64_t ConfigReader::nullable_integer(Keys keys, std::int64_t when_absent, std::int64_t when_null, Range range) {
  const auto found = find(keys);
  if (!found) return when_absent;
  return found->value().is_null() ? when_null : found->integer(range.smallest, range.largest);
}

std::int64_t ConfigReader::integer(Keys keys, std::int64_t when_absent, Range range) {
  return nullable_integer(keys, when_absent, when_absent, range);
}

std::int64_t ConfigReader::layer_count(Keys keys, std::int64_t when_absent, Range range) {
  const auto found = find(keys);
  if (!found || found->value().is_null()) absent_.emplace_back(keys.usual());
  return integer(keys, when_absent, range);
}

bool ConfigReader::boolean(Keys keys, bool when_absent) {
  const auto found = find(keys);
  return found && !found->value().is_null() ? found->boolean() : when_absent;
}

std::string ConfigReader::text(Keys keys, std::string_view when_absent) {
  const auto found = find(keys);
  return found && !found->value().is_null() ? found->string() : std::string(when_absent);
}

bool ConfigReader::is_positive(Keys keys, double when_absent) { return number(keys, when_absent, {0.0, 1.0}) > 0.0; }

double ConfigReader::number(Keys keys, double when_absent, RealRange range) {
  const auto found = find(keys);
  return found && !found->value().is_null() ? found->number(range.smallest, range.largest) : when_absent;
}

std::optional<std::vector<std::int64_t>> ConfigReader::integers(Keys keys, Range range) {
  const auto found = find(keys);
  if (!found || found->value().is_null()) return std::nullopt;
  std::vector<std::int64_t> result;
  for (const JsonPlace& element : found->elements()) result.push_back(element.integer(range.smallest, range.largest));
  return result;
}

void ConfigReader::require_layers() const {
  if (absent_.empty()) return;
  throw InputError({place_.where(), absent_.front() + " is missing", "how many layers the network has", ""});
}

void ConfigReader::refuse_near_misses() const {
  for (const Json::Member& member : *place_.value().if_object()) {
    const std::string& key = member.first;
    if (key.size() < shortest_key_to_compare || std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
    for (const std::string& missed : missed_)
      if (is_typing_error(key, missed)) throw InputError({pointer_to(key), "unknown key", "", missed});
  }
}

std::string ConfigReader::where(Keys keys) const {
  for (const std::string_view key : keys)
    if (place_.value().find(key) != nullptr) return pointer_to(key);
  return pointer_to(keys.usual());
}

std::string ConfigReader::pointer_to(std::string_view key) const {
  const std::string& holder = place_.where();
  const bool is_pointer = holder.find(":/") != std::string::npos || holder.ends_with(':');
  return holder + (is_pointer ? "/" : ":/") + std::string(key);
}

void require_multiple(const std::string& where, std::int64_t value, std::int64_t divisor,
                      std::string_view divisor_name) {
  if (value % divisor == 0) return;
  const std::int64_t below = value / divisor * divisor;
  const bool up = below == 0 || value - below > below + divisor - value;
  throw InputError({where,
                    std::to_string(value) + " is not divisible by " + std::string(divisor_name) + " (" +
                        std::to_string(divisor) + ")",
                    "", std::to_string(up ? below + divisor : below)});
}

}  // namespace plumbline
