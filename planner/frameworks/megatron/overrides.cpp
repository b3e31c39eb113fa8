#include "planner/frameworks/megatron/overrides.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "core/base/errors.h"
#include "planner/frameworks/syntax/quoting.h"

namespace plumbline::megatron {
namespace {

constexpr std::size_t most_bytes = std::size_t{1} << 20;
constexpr std::size_t most_keys = 10'000;

bool is_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

/// Members of modules and enums that are values as they are: number formats, and what computes attention.
constexpr std::array<std::string_view, 2> named_values{"torch.", "AttnBackend."};
bool is_named_value(std::string_view text) {
  return std::any_of(named_values.begin(), named_values.end(), [&](std::string_view before) {
    return text.starts_with(before) && text.size() > before.size() &&
           std::all_of(text.begin() + static_cast<std::ptrdiff_t>(before.size()), text.end(), is_name);
  });
}

/// LoRA(dim=16), LoRA(dim=16, target_modules=["linear_qkv"]): names, numbers and strings in one pair of brackets.
bool is_adapter_call(std::string_view text) {
  constexpr std::string_view call = "LoRA(";
  return text.starts_with(call) && text.ends_with(')') &&
         std::all_of(text.begin() + static_cast<std::ptrdiff_t>(call.size()), text.end() - 1, [](char c) {
           return is_name(c) || std::string_view("=, []\"'.").find(c) != std::string_view::npos;
         });
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t' || text.front() == '\r')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

/// Up to a '#' that is in no string.
std::string_view without_comment(std::string_view line) {
  char quote = '\0';
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (quote != '\0')
      quote = line[i] == quote ? '\0' : quote;
    else if (line[i] == '\'' || line[i] == '"')
      quote = line[i];
    else if (line[i] == '#')
      return line.substr(0, i);
  }
  return line;
}

std::optional<Json> number(std::string_view text) {
  std::string digits(text);
  std::erase(digits, '_');
  std::int64_t integer = 0;
  const char* const end = digits.data() + digits.size();
  if (const auto read = std::from_chars(digits.data(), end, integer); read.ec == std::errc{} && read.ptr == end)
    return Json(integer);
  double real = 0;
  if (const auto read = std::from_chars(digits.data(), end, real); read.ec == std::errc{} && read.ptr == end)
    return Json(real);
  return std::nullopt;
}

std::optional<Json> literal(std::string_view text, int depth);

std::optional<Json> list(std::string_view inside, int depth) {
  Json::Array values;
  while (!trimmed(inside).empty()) {
    const std::size_t comma = inside.find(',');
    std::optional<Json> value = literal(trimmed(inside.substr(0, comma)), depth + 1);
    if (!value) return std::nullopt;
    values.push_back(std::move(*value));
    if (comma == std::string_view::npos) break;
    inside.remove_prefix(comma + 1);
  }
  return Json(std::move(values));
}

std::optional<Json> literal(std::string_view text, int depth) {
  if (text.empty() || depth > 2) return std::nullopt;
  if (text == "None" || text == "null") return Json();
  if (text == "True" || text == "true") return Json(true);
  if (text == "False" || text == "false") return Json(false);
  const char first = text.front();
  const bool is_closed = text.size() >= 2;
  if ((first == '"' || first == '\'') && is_closed && text.back() == first)
    return Json(text.substr(1, text.size() - 2));
  if (first == '[' && is_closed && text.back() == ']') return list(text.substr(1, text.size() - 2), depth);
  if (const auto value = number(text)) return value;
  if (is_named_value(text) || is_adapter_call(text)) return Json(text);
  const std::size_t name = static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_name) - text.begin());
  if (name > 0 && text.substr(name) == "()") return Json(text.substr(0, name));
  return std::nullopt;
}

/// "model.x" of "cfg.model.x" or of "model.x"; empty: no path of attributes.
std::string_view path_of(std::string_view target) {
  for (const std::string_view before : {"self.cfg.", "cfg.", "config.", "++", "+"})
    if (target.starts_with(before)) {
      target.remove_prefix(before.size());
      break;
    }
  const bool is_path = std::all_of(target.begin(), target.end(), [](char c) { return is_name(c) || c == '.'; });
  return is_path && !target.empty() && target.front() != '.' && target.back() != '.' ? target : std::string_view();
}

void put(Json::Object& object, std::string_view path, Json value, int depth) {
  const std::size_t dot = depth < 8 ? path.find('.') : std::string_view::npos;
  const std::string key(path.substr(0, dot));
  auto found = std::find_if(object.begin(), object.end(), [&](const Json::Member& one) { return one.first == key; });
  if (found == object.end()) found = object.insert(object.end(), {key, Json()});
  if (dot == std::string_view::npos) {
    found->second = std::move(value);
    return;
  }
  Json::Object inner = found->second.if_object() == nullptr ? Json::Object() : *found->second.if_object();
  put(inner, path.substr(dot + 1), std::move(value), depth + 1);
  found->second = std::move(inner);
}

/// One assignment; false: none.
bool read_assignment(std::string_view text, Json::Object& tree, std::vector<std::string>& unresolved) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || text.substr(equals).starts_with("==")) return false;
  const std::string_view target = trimmed(text.substr(0, equals));
  const std::string_view path = path_of(target);
  const std::string_view right = trimmed(text.substr(equals + 1));
  if (path.empty() || (path == target && path.find('.') == std::string_view::npos)) return false;
  if (right.starts_with("get_mixed_precision_config(")) return true;  // of the recipe that is there by name
  if (path == "mixed_precision.grad_reduce_in_fp32") {
    if (std::optional<Json> value = literal(right, 0)) put(tree, "ddp.grad_reduce_in_fp32", std::move(*value), 0);
    return true;
  }
  if (std::optional<Json> value = literal(right, 0))
    put(tree, path, std::move(*value), 0);
  else
    unresolved.push_back(std::string(path) + ": its value " + std::string(right.substr(0, 60)) + " is not a literal");
  return true;
}

/// A literal, or what is a value as it stands.
std::string python(const Json& value) {
  const std::string* const text = value.if_string();
  return text != nullptr && (is_named_value(*text) || is_adapter_call(*text)) ? *text : python_literal(value);
}

void print(const Json& tree, const std::string& before, std::string& text) {
  for (const auto& [key, value] : *tree.if_object())
    if (value.if_object() != nullptr)
      print(value, before + key + ".", text);
    else
      text += "    cfg." + before + key + " = " + python(value) + "\n";
}

}  // namespace

Overrides read_overrides(std::string_view text, std::string_view name) {
  if (text.size() > most_bytes)
    throw InputError({std::string(name), std::to_string(text.size()) + " bytes", "overrides of at most 1 MiB", ""});
  Json::Object tree;
  Overrides all;
  std::size_t count = 0;
  while (!text.empty() && count < most_keys) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(without_comment(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (read_assignment(line, tree, all.unresolved)) ++count;
  }
  if (count == 0)
    throw InputError({std::string(name), "nothing is assigned in it", "lines such as 'cfg.model.x = 2'", ""});
  all.tree = std::move(tree);
  return all;
}

std::string overrides_text(const Json& tree) {
  std::string text;
  print(tree, "", text);
  return text;
}

}  // namespace plumbline::megatron
