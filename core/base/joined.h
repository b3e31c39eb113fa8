#pragma once
/// \file joined.h: words as one text, for messages and lists.

#include <span>
#include <string>
#include <string_view>

namespace plumbline {

[[nodiscard]] inline std::string joined(std::span<const std::string> words, std::string_view separator = ", ") {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += separator;
    text += word;
  }
  return text;
}

}  // namespace plumbline
