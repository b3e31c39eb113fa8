#pragma once
/// \file config_reader.h: reads a foreign configuration leniently: synonyms of keys, defaults, keys that do not matter.
///
/// It remembers what was asked for, so that a key which nobody asked for and which is nearly one that was missed is
/// refused as a typing error instead of silently giving way to a default.

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/io/json.h"

namespace plumbline {

/// Spellings of one fact, the usual one first.
class Keys {
 public:
  constexpr Keys(std::initializer_list<std::string_view> spellings) {
    for (const std::string_view spelling : spellings) spellings_.at(count_++) = spelling;
  }
  [[nodiscard]] constexpr const std::string_view* begin() const { return spellings_.data(); }
  [[nodiscard]] constexpr const std::string_view* end() const { return spellings_.data() + count_; }
  [[nodiscard]] constexpr std::string_view usual() const { return spellings_.front(); }

 private:
  std::array<std::string_view, 6> spellings_;
  std::size_t count_ = 0;
};

/// The numbers that a real network can have; wider than any that exists, so that sizes never overflow.
struct Range {
  std::int64_t smallest = 0;
  std::int64_t largest = 0;
};
struct RealRange {
  double smallest = 0;
  double largest = 0;
};
inline constexpr Range layer_range{1, 100'000};
inline constexpr Range width_range{1, 10'000'000};
inline constexpr Range vocabulary_range{1, 1'000'000'000};
inline constexpr Range head_range{1, 1'000'000};
inline constexpr Range expert_range{1, 1'000'000};

class ConfigReader {
 public:
  /// Throws InputError when `place` holds no object.
  explicit ConfigReader(const JsonPlace& place);

  /// The member under the first of the spellings that the file has, null included.
  [[nodiscard]] std::optional<JsonPlace> find(Keys keys);
  // Each returns `when_absent` for an absent key and for null, and throws InputError for a wrong type or range.
  [[nodiscard]] std::int64_t integer(Keys keys, std::int64_t when_absent, Range range);
  /// As `integer`; `require_layers` throws InputError where one was absent or null.
  [[nodiscard]] std::int64_t layer_count(Keys keys, std::int64_t when_absent, Range range);
  [[nodiscard]] bool boolean(Keys keys, bool when_absent);
  [[nodiscard]] std::string text(Keys keys, std::string_view when_absent);
  [[nodiscard]] double number(Keys keys, double when_absent, RealRange range);
  /// Whether a probability is above zero.
  [[nodiscard]] bool is_positive(Keys keys, double when_absent);
  /// As `integer`, but null means something else than an absent key.
  [[nodiscard]] std::int64_t nullable_integer(Keys keys, std::int64_t when_absent, std::int64_t when_null, Range range);
  /// The elements of an array of whole numbers; nothing for an absent key and for null.
  [[nodiscard]] std::optional<std::vector<std::int64_t>> integers(Keys keys, Range range);

  /// Throws InputError for a key of the file that is nearly one that was asked for and not found.
  void refuse_near_misses() const;
  void require_layers() const;
  /// Names a key for a message: "file:/key", in the spelling that the file uses.
  [[nodiscard]] std::string where(Keys keys) const;

 private:
  [[nodiscard]] std::string pointer_to(std::string_view key) const;

  JsonPlace place_;
  std::vector<std::string> known_;   ///< every spelling asked for
  std::vector<std::string> absent_;  ///< usual spellings of required numbers that are absent
  std::vector<std::string> missed_;  ///< usual spellings of what was asked for and absent
};

/// Throws InputError naming the nearest multiple unless `value` is a multiple of `divisor`.
void require_multiple(const std::string& where, std::int64_t value, std::int64_t divisor,
                      std::string_view divisor_name);

}  // namespace plumbline
