#include "core/io/json.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <system_error>

#include "core/base/errors.h"

namespace plumbline {
namespace {

constexpr std::size_t deepest_nesting = 64;
constexpr std::size_t most_values = 4'000'000;

/// The start of a text from outside, fit for a one-line message.
std::string one_line(std::string_view text) {
  std::string shown(text.substr(0, 32));
  std::replace_if(
      shown.begin(), shown.end(), [](unsigned char c) { return c < 0x20 || c >= 0x7f; }, '?');
  return shown;
}

/// Builds a Json tree from the parser's events and stops at the first limit or error.
class TreeBuilder : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit TreeBuilder(std::string_view source) : source_(source) {}

  bool null() override { return add(Json()); }
  bool boolean(bool value) override { return add(Json(value)); }
  bool number_integer(number_integer_t value) override { return add(Json(std::int64_t{value})); }
  bool number_unsigned(number_unsigned_t value) override {
    if (value > static_cast<number_unsigned_t>(std::numeric_limits<std::int64_t>::max())) {
      return add(Json(static_cast<double>(value)));
    }
    return add(Json(static_cast<std::int64_t>(value)));
  }
  bool number_float(number_float_t value, const string_t&) override { return add(Json(value)); }
  bool string(string_t& value) override { return add(Json(std::move(value))); }
  bool binary(binary_t&) override { return false; }

  bool start_object(std::size_t) override { return open(Json(Json::Object{})); }
  bool key(string_t& value) override {
    Level& level = levels_.back();
    level.key = std::move(value);
    if (!level.keys.insert(level.key).second)
      refuse("key \"" + one_line(level.key) + "\" appears twice", "each key once");
    return true;
  }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(Json(Json::Array{})); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t position, const std::string& token, const nlohmann::detail::exception& error) override {
    const std::string shown = one_line(token);
    constexpr int number_overflow = 406;  // the parser's code
    if (error.id == number_overflow) refuse("number " + shown + " is out of range", "a number that a double can hold");
    throw InputError({source_ + ": byte " + std::to_string(position), "not valid JSON near \"" + shown + "\"",
                      "a complete JSON document", ""});
  }

  Json take() { return std::move(root_); }

 private:
  struct Level {
    bool is_object;
    Json::Object members;
    Json::Array elements;
    std::string key;
    std::set<std::string> keys;
  };

  [[noreturn]] void refuse(std::string what, std::string expected) const {
    std::string pointer;
    for (const Level& level : levels_)
      pointer += "/" + (level.is_object ? one_line(level.key) : std::to_string(level.elements.size()));
    throw InputError({source_ + ":" + pointer, std::move(what), std::move(expected), ""});
  }
  bool count() {
    if (++values_ > most_values) refuse("more than " + std::to_string(most_values) + " values", "a smaller document");
    return true;
  }
  bool add(Json value) {
    count();
    if (levels_.empty()) {
      root_ = std::move(value);
    } else if (levels_.back().is_object) {
      levels_.back().members.emplace_back(std::move(levels_.back().key), std::move(value));
    } else {
      levels_.back().elements.push_back(std::move(value));
    }
    return true;
  }
  bool open(const Json& empty) {
    count();
    if (levels_.size() == deepest_nesting)
      refuse("nested deeper than " + std::to_string(deepest_nesting) + " levels", "a flatter document");
    levels_.push_back(Level{empty.if_object() != nullptr, {}, {}, {}, {}});
    return true;
  }
  bool close() {
    Level level = std::move(levels_.back());
    levels_.pop_back();
    --values_;  // add() below counts the container a second time
    return add(level.is_object ? Json(std::move(level.members)) : Json(std::move(level.elements)));
  }

  std::string source_;
  std::vector<Level> levels_;
  std::size_t values_ = 0;
  Json root_;
};

/// What is written is UTF-8 without a control character, so that it may be shown as it is.
void append_string(std::string& out, const std::string& text) {
  const std::string quoted = nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  for (std::size_t i = 0; i < quoted.size(); ++i) {
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(quoted[at]); };
    const bool is_upper_control = byte(i) == 0xC2 && i + 1 < quoted.size() && byte(i + 1) < 0xA0;  // U+0080 to U+009F
    if (is_upper_control || byte(i) == 0x7F) {
      std::array<char, 8> code{};
      std::snprintf(code.data(), code.size(), "\\u%04x", is_upper_control ? byte(++i) : 0x7FU);
      out += code.data();
    } else {
      out += quoted[i];
    }
  }
}

void append_double(std::string& out, double value) {
  if (!std::isfinite(value)) {
    out += "null";
    return;
  }
  char buffer[32];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value);
  check(error == std::errc{}, "32 characters hold every shortest double");
  const std::string_view text(buffer, static_cast<std::size_t>(end - buffer));
  out += text;
  if (text.find_first_of(".e") == std::string_view::npos) out += ".0";
}

class Writer {
 public:
  explicit Writer(int indent) : indent_(indent) {}

  void write(const Json& value) {
    if (value.is_null()) {
      out_ += "null";
    } else if (const bool* flag = value.if_bool()) {
      out_ += *flag ? "true" : "false";
    } else if (const std::int64_t* integer = value.if_integer()) {
      out_ += std::to_string(*integer);
    } else if (const double* number = value.if_double()) {
      append_double(out_, *number);
    } else if (const std::string* text = value.if_string()) {
      append_string(out_, *text);
    } else if (const Json::Array* array = value.if_array()) {
      write_all(*array, '[', ']', [&](const Json& element) { write(element); });
    } else if (const Json::Object* object = value.if_object()) {
      write_all(*object, '{', '}', [&](const Json::Member& member) {
        append_string(out_, member.first);
        out_ += indent_ < 0 ? ":" : ": ";
        write(member.second);
      });
    }
  }
  std::string take() { return std::move(out_); }

 private:
  void new_line() {
    if (indent_ >= 0) out_ += "\n" + std::string(static_cast<std::size_t>(depth_ * indent_), ' ');
  }
  template <class Items, class WriteItem>
  void write_all(const Items& items, char open, char close, WriteItem write_item) {
    out_ += open;
    ++depth_;
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (i > 0) out_ += ",";
      new_line();
      write_item(items[i]);
    }
    --depth_;
    if (!items.empty()) new_line();
    out_ += close;
  }

  int indent_;
  int depth_ = 0;
  std::string out_;
};

std::string shown(const Json& value) {
  std::string text = to_json_text(value, -1);
  if (text.size() > 40) text = text.substr(0, 37) + "...";
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

[[noreturn]] void refuse_type(const JsonPlace& place, std::string_view expected) {
  throw InputError({place.where(), "found " + std::string(place.value().type_name()) + " " + shown(place.value()),
                    std::string(expected), ""});
}

/// "file:/a/b" from the place "file", "file:" or "file:/a" of what holds the member.
std::string member_place(const std::string& holder, std::string_view member) {
  const bool is_pointer = holder.find(":/") != std::string::npos || (!holder.empty() && holder.back() == ':');
  return holder + (is_pointer ? "/" : ":/") + std::string(member);
}

}  // namespace

const Json* Json::find(std::string_view key) const {
  const Object* object = if_object();
  if (object == nullptr) return nullptr;
  const auto found =
      std::find_if(object->begin(), object->end(), [&](const Member& member) { return member.first == key; });
  return found == object->end() ? nullptr : &found->second;
}

std::string_view Json::type_name() const {
  static constexpr std::string_view names[] = {"null",     "a boolean", "an integer", "a number",
                                               "a string", "an array",  "an object"};
  return names[value_.index()];
}

Json parse_json(std::string_view text, std::string_view source) {
  if (text.size() > largest_json_text)
    throw InputError({std::string(source), "larger than 64 MiB", "a smaller document", ""});
  // The parser would take it for the end of the text.
  if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos)
    throw InputError({std::string(source) + ": byte " + std::to_string(nul), "a NUL byte", "a text without one", ""});
  TreeBuilder builder(source);
  nlohmann::json::sax_parse(text.begin(), text.end(), &builder);
  return builder.take();
}

std::string to_json_text(const Json& value, int indent) {
  Writer writer(indent);
  writer.write(value);
  return writer.take() + "\n";
}

bool JsonPlace::boolean() const {
  const bool* flag = value_->if_bool();
  if (flag == nullptr) refuse_type(*this, "true or false");
  return *flag;
}

std::int64_t JsonPlace::integer(std::int64_t smallest, std::int64_t largest) const {
  const std::string range = "a whole number from " + std::to_string(smallest) + " to " + std::to_string(largest);
  const std::int64_t* integer = value_->if_integer();
  if (integer == nullptr || *integer < smallest || *integer > largest) refuse_type(*this, range);
  return *integer;
}

double JsonPlace::number(double smallest, double largest) const {
  const std::int64_t* integer = value_->if_integer();
  const double* number = value_->if_double();
  const double value = integer != nullptr ? static_cast<double>(*integer) : number != nullptr ? *number : std::nan("");
  if (!(value >= smallest && value <= largest)) {
    refuse_type(*this, "a number from " + shown(Json(smallest)) + " to " + shown(Json(largest)));
  }
  return value;
}

const std::string& JsonPlace::string() const {
  const std::string* text = value_->if_string();
  if (text == nullptr) refuse_type(*this, "a string");
  return *text;
}

std::vector<JsonPlace> JsonPlace::elements() const {
  const Json::Array* array = value_->if_array();
  if (array == nullptr) refuse_type(*this, "an array");
  std::vector<JsonPlace> places;
  places.reserve(array->size());
  for (std::size_t i = 0; i < array->size(); ++i)
    places.emplace_back((*array)[i], member_place(where_, std::to_string(i)));
  return places;
}

JsonObject::JsonObject(const JsonPlace& place) : place_(place) {
  if (place.value().if_object() == nullptr) refuse_type(place, "an object");
}

JsonPlace JsonObject::at(std::string_view key) {
  asked_.emplace_back(key);
  const Json* value = place_.value().find(key);
  if (value == nullptr) {
    std::vector<std::string> present;
    for (const Json::Member& member : *place_.value().if_object()) present.push_back(member.first);
    throw InputError({place_.where(), "key \"" + std::string(key) + "\" is missing", "", nearest_text(key, present)});
  }
  return JsonPlace(*value, member_place(place_.where(), key));
}

std::optional<JsonPlace> JsonObject::find(std::string_view key) {
  asked_.emplace_back(key);
  const Json* value = place_.value().find(key);
  if (value == nullptr || value->is_null()) return std::nullopt;
  return JsonPlace(*value, member_place(place_.where(), key));
}

std::vector<std::pair<std::string, JsonPlace>> JsonObject::members() {
  std::vector<std::pair<std::string, JsonPlace>> result;
  for (const Json::Member& member : *place_.value().if_object()) {
    asked_.push_back(member.first);
    result.emplace_back(member.first, JsonPlace(member.second, member_place(place_.where(), member.first)));
  }
  return result;
}

std::vector<std::pair<std::string, std::string>> JsonObject::unread() const {
  std::vector<std::pair<std::string, std::string>> keys;
  for (const Json::Member& member : *place_.value().if_object())
    if (std::find(asked_.begin(), asked_.end(), member.first) == asked_.end())
      keys.emplace_back(member.first, nearest_text(member.first, asked_));
  return keys;
}

void JsonObject::finish() const {
  if (const auto keys = unread(); !keys.empty())
    throw InputError({member_place(place_.where(), keys.front().first), "unknown key", "", keys.front().second});
}

JsonObject open_document(const JsonPlace& root, std::string_view expected_format) {
  JsonObject object(root);
  const JsonPlace format = object.at("format");
  if (format.string() != expected_format) {
    throw InputError(
        {format.where(), "\"" + format.string().substr(0, 60) + "\"", "\"" + std::string(expected_format) + "\"", ""});
  }
  return object;
}

}  // namespace plumbline
