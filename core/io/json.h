#pragma once
/// \file json.h: JSON values read with limits and strictly, written byte-identically.
///
/// Parsing survives anything: files over 64 MiB, nesting over 64 levels, over 4 million values, duplicate keys and
/// numbers outside the double range are InputErrors that name the source and the byte or JSON pointer.
/// No header of the parser library leaves json.cpp.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace plumbline {

/// Of a text, and of the file that holds it.
inline constexpr std::size_t largest_json_text = std::size_t{64} << 20;

/// A JSON value. Objects keep the order of their keys, so that what is written reads as it was composed.
class Json {
 public:
  using Array = std::vector<Json>;
  using Member = std::pair<std::string, Json>;
  using Object = std::vector<Member>;

  Json() = default;
  Json(std::nullptr_t) {}
  Json(bool value) : value_(value) {}
  Json(int value) : value_(std::int64_t{value}) {}
  Json(std::int64_t value) : value_(value) {}
  Json(double value) : value_(value) {}
  Json(const char* value) : value_(std::string(value)) {}
  Json(std::string_view value) : value_(std::string(value)) {}
  Json(std::string value) : value_(std::move(value)) {}
  Json(Array value) : value_(std::move(value)) {}
  Json(Object value) : value_(std::move(value)) {}

  [[nodiscard]] bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
  [[nodiscard]] const bool* if_bool() const { return std::get_if<bool>(&value_); }
  [[nodiscard]] const std::int64_t* if_integer() const { return std::get_if<std::int64_t>(&value_); }
  [[nodiscard]] const double* if_double() const { return std::get_if<double>(&value_); }
  [[nodiscard]] const std::string* if_string() const { return std::get_if<std::string>(&value_); }
  [[nodiscard]] const Array* if_array() const { return std::get_if<Array>(&value_); }
  [[nodiscard]] const Object* if_object() const { return std::get_if<Object>(&value_); }
  /// The member's value, or null pointer when this is no object or has no such key.
  [[nodiscard]] const Json* find(std::string_view key) const;
  /// "an object", "a string", ... for messages.
  [[nodiscard]] std::string_view type_name() const;

 private:
  std::variant<std::monostate, bool, std::int64_t, double, std::string, Array, Object> value_;
};

/// Reads a text; `source` names it in messages. Throws InputError.
[[nodiscard]] Json parse_json(std::string_view text, std::string_view source);
/// Two-space indented text that ends with a newline, or one line when `indent` is negative. Doubles are written in the
/// shortest form that reads back to the same value. Non-finite doubles are written as null.
[[nodiscard]] std::string to_json_text(const Json& value, int indent = 2);

/// A value with the place it came from ("file:/pointer"): what readers of our formats pass around.
class JsonPlace {
 public:
  JsonPlace(const Json& value, std::string where) : value_(&value), where_(std::move(where)) {}

  [[nodiscard]] const Json& value() const { return *value_; }
  [[nodiscard]] const std::string& where() const { return where_; }

  // Each throws InputError naming the place, what was found and what was expected.
  [[nodiscard]] bool boolean() const;
  [[nodiscard]] std::int64_t integer(std::int64_t smallest, std::int64_t largest) const;
  [[nodiscard]] double number(double smallest, double largest) const;
  [[nodiscard]] const std::string& string() const;
  [[nodiscard]] std::vector<JsonPlace> elements() const;

 private:
  const Json* value_;
  std::string where_;
};

/// Strict reading of one object: every key is asked for by name, and `finish` refuses those nobody asked for.
class JsonObject {
 public:
  explicit JsonObject(const JsonPlace& place);

  [[nodiscard]] bool has(std::string_view key) const { return place_.value().find(key) != nullptr; }
  /// The member; InputError when it is absent.
  [[nodiscard]] JsonPlace at(std::string_view key);
  /// The member, or nothing when it is absent or null.
  [[nodiscard]] std::optional<JsonPlace> find(std::string_view key);
  /// All members in order, all counted as asked for: for objects whose keys are data.
  [[nodiscard]] std::vector<std::pair<std::string, JsonPlace>> members();
  /// Keys that were never asked for, in the order of the object, each with the nearest of those that were (or "").
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> unread() const;
  /// Throws InputError with the nearest known key for the first key that was never asked for.
  void finish() const;
  [[nodiscard]] const std::string& where() const { return place_.where(); }

 private:
  JsonPlace place_;
  std::vector<std::string> asked_;
};

/// Checks `"format": "<expected>"` and returns the object's reader with that key consumed.
[[nodiscard]] JsonObject open_document(const JsonPlace& root, std::string_view expected_format);

}  // namespace plumbline
