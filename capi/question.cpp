#include "capi/question.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/base/errors.h"
#include "core/base/joined.h"

namespace plumbline::capi {
namespace {

constexpr double largest_whole = 1e18;  // beyond, a double's digits are no longer what somebody wrote

std::string number_text(double value) {
  const bool is_whole = std::trunc(value) == value && std::abs(value) < largest_whole;
  return is_whole ? std::to_string(static_cast<std::int64_t>(value)) : to_json_text(Json(value), -1);
}

std::string list_text(const Json::Array& values) {
  std::vector<std::string> texts;
  for (const Json& value : values) texts.push_back(flag_text(value));
  return joined(texts, ",");
}

std::string pairs_text(const Json::Object& members) {
  std::vector<std::string> texts;
  for (const auto& [key, value] : members) {
    std::string text = flag_text(value);
    std::replace(text.begin(), text.end(), ',', '|');
    texts.push_back(key + "=" + text);
  }
  return joined(texts, ",");
}

/// `seq_len`, `seq-len`, `--seq-len` and, of a word that a language keeps for itself, `from_`.
std::string flag_of(const std::string& key) {
  std::string name = key.starts_with("--") ? key.substr(2) : key;
  while (name.ends_with('_')) name.pop_back();
  std::replace(name.begin(), name.end(), '_', '-');
  return "--" + name;
}

std::vector<std::string> names_of(const Json& value) {
  std::vector<std::string> names;
  if (const Json::Array* several = value.if_array())
    for (const Json& one : *several) names.push_back(flag_text(one));
  else
    names.push_back(flag_text(value));
  return names;
}

/// Whether the flag is an input, which it then is.
bool take_input(Question& question, const std::string& flag, const Json& value) {
  session::Inputs& inputs = question.inputs;
  if (flag == "--plan")
    inputs.source.plan_file = flag_text(value);
  else if (flag == "--against")
    inputs.against.plan_file = flag_text(value);
  else if (flag == "--import")
    inputs.source.launch_files = names_of(value);
  else if (flag == "--files")
    inputs.files = names_of(value);
  else
    return false;
  return true;
}

}  // namespace

std::string flag_text(const Json& value) {
  if (const std::string* text = value.if_string()) return *text;
  if (const bool* is_on = value.if_bool()) return *is_on ? "on" : "off";
  if (const std::int64_t* number = value.if_integer()) return std::to_string(*number);
  if (const double* number = value.if_double()) return number_text(*number);
  if (const Json::Array* values = value.if_array()) return list_text(*values);
  if (const Json::Object* members = value.if_object()) return pairs_text(*members);
  return "";
}

Question read_question(std::string_view text) {
  const Json document = parse_json(text, "question");
  const Json::Object* members = document.if_object();
  if (members == nullptr)
    throw InputError({"question", "is " + std::string(document.type_name()), "an object of JSON", ""});
  Question question;
  for (const auto& [key, value] : *members) {
    const std::string flag = flag_of(key);
    if (value.is_null()) continue;
    if (const bool* offers = flag == "--offers" ? value.if_bool() : nullptr) {
      question.with_offers = *offers;
      continue;
    }
    if (take_input(question, flag, value)) continue;
    if (!question.given.emplace(flag, flag_text(value)).second)
      throw InputError({flag, "is given twice", "one of its spellings", ""});
  }
  return question;
}

}  // namespace plumbline::capi
