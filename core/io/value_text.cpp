#include "core/io/value_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "core/io/number_text.h"
#include "core/quantity/text.h"

namespace plumbline {

std::int64_t whole_number(std::string_view flag, const std::string& text, std::int64_t smallest, std::int64_t largest) {
  const auto refusal = [&] {
    return InputError({std::string(flag), "\"" + text.substr(0, 40) + "\" is not a whole number in range",
                       "from " + std::to_string(smallest) + " to " + std::to_string(largest) + ", K, M, B, T allowed",
                       ""});
  };
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) {
    try {
      number = parse_count(text, flag);
    } catch (const InputError&) {
      throw refusal();
    }
  }
  if (number < smallest || number > largest) throw refusal();
  return number;
}

std::int64_t sequence_length(std::string_view flag, const std::string& text, std::int64_t largest) {
  constexpr std::int64_t binary_thousand = 1024;
  const std::size_t digits = text.empty() ? 0 : text.size() - 1;
  const char suffix = text.empty() ? '\0' : text.back();
  const std::int64_t unit = suffix == 'K' || suffix == 'k'   ? binary_thousand
                            : suffix == 'M' || suffix == 'm' ? binary_thousand * binary_thousand
                                                             : 0;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + digits, number);
  if (unit == 0 || error != std::errc{} || end != text.data() + digits) return whole_number(flag, text, 1, largest);
  if (number < 1 || number > largest / unit)
    throw InputError({std::string(flag), "\"" + text.substr(0, 40) + "\" is out of range",
                      "from 1 to " + std::to_string(largest) + "; K is 1024", ""});
  return number * unit;
}

double real_number(std::string_view flag, const std::string& text, double smallest, double largest) {
  return number_from_text(flag, text, smallest, largest);
}

bool on_or_off(std::string_view flag, const std::string& text) {
  if (text.empty() || text == "on" || text == "true") return true;
  if (text == "off" || text == "false") return false;
  refuse_choice(flag, text, {"on", "off"});
}

std::vector<std::string> list_of(std::string_view flag, const std::string& text) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    if (end == begin)
      throw InputError(
          {std::string(flag), "an empty part in \"" + text.substr(0, 40) + "\"", "parts apart by commas", ""});
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

namespace {

/// What other programs call a value: PyTorch's types, and Hugging Face's.
constexpr std::array foreign_values{std::pair<std::string_view, std::string_view>{"bfloat16", "bf16"},
                                    std::pair<std::string_view, std::string_view>{"torch.bfloat16", "bf16"},
                                    std::pair<std::string_view, std::string_view>{"float16", "fp16"},
                                    std::pair<std::string_view, std::string_view>{"half", "fp16"},
                                    std::pair<std::string_view, std::string_view>{"float32", "fp32"},
                                    std::pair<std::string_view, std::string_view>{"no", "fp32"},
                                    std::pair<std::string_view, std::string_view>{"adamw_torch", "adamw"},
                                    std::pair<std::string_view, std::string_view>{"adamw_torch_fused", "adamw"}};

std::string nearest_value(const std::string& text, const std::vector<std::string>& names) {
  if (text.empty()) return "";
  for (const auto& [theirs, ours] : foreign_values)
    if (theirs == text && std::find(names.begin(), names.end(), ours) != names.end()) return std::string(ours);
  return nearest_text(text, names);
}

}  // namespace

void refuse_choice(std::string_view flag, const std::string& text, const std::vector<std::string>& names) {
  std::string expected;
  for (const std::string& name : names) expected += (expected.empty() ? "" : ", ") + name;
  throw InputError({std::string(flag), "\"" + text.substr(0, 40) + "\" is unknown", "one of " + expected,
                    nearest_value(text, names)});
}

std::string alternatives(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : "|") + name;
  return text;
}

}  // namespace plumbline
