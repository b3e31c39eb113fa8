#include "core/base/escape.h"

#include <cstdint>

namespace plumbline {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";  // U+FFFD

/// One code point and the bytes that spell it; `size` 0: the first byte begins no well-formed one.
struct CodePoint {
  std::uint32_t value = 0;
  std::size_t size = 0;
};

CodePoint first_code_point(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])); };
  const std::uint32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t size = lead >= 0xF0 && lead < 0xF5 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < size) return {};
  std::uint32_t value = lead & (0x7FU >> size);
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return {};
    value = value << 6U | (byte(i) & 0x3FU);
  }
  const bool is_overlong = (size == 3 && value < 0x800) || (size == 4 && value < 0x10000);
  const bool is_surrogate = value >= 0xD800 && value < 0xE000;
  if (is_overlong || is_surrogate || value > 0x10FFFF) return {};
  return {value, size};
}

/// Writes each code point of `text` as `write(code point, its bytes)` says.
template <class Write>
std::string rewritten(std::string_view text, Write write) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const CodePoint point = first_code_point(text);
    const std::size_t size = point.size == 0 ? 1 : point.size;
    result += point.size == 0 ? replacement : write(point.value, text.substr(0, size));
    text.remove_prefix(size);
  }
  return result;
}

bool is_control(std::uint32_t point) { return point < 0x20 || (point >= 0x7F && point < 0xA0); }

/// Embeddings, overrides and isolates of UAX 9, and the separators that some readers take for line breaks.
bool turns_text(std::uint32_t point) {
  return (point >= 0x202A && point <= 0x202E) || (point >= 0x2066 && point <= 0x2069) || point == 0x200E ||
         point == 0x200F || point == 0x2028 || point == 0x2029;
}

}  // namespace

std::string printable(std::string_view text) {
  return rewritten(text, [](std::uint32_t point, std::string_view bytes) {
    return is_control(point) || turns_text(point) ? std::string_view("?") : bytes;
  });
}

std::string printable_lines(std::string_view text) {
  return rewritten(text, [](std::uint32_t point, std::string_view bytes) {
    return point == '\n' || point == '\t' || !(is_control(point) || turns_text(point)) ? bytes : std::string_view("?");
  });
}

std::string markdown_text(std::string_view text) {
  constexpr std::string_view active = "\\`*[]<>|#&~$";
  std::string result;
  for (const char c : printable(text)) {
    if (active.find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result;
}

std::string xml_text(std::string_view text) {
  return rewritten(text, [](std::uint32_t point, std::string_view bytes) -> std::string_view {
    switch (point) {
      case '&': return "&amp;";
      case '<': return "&lt;";
      case '>': return "&gt;";
      case '"': return "&quot;";
      default: break;
    }
    const bool is_allowed = !is_control(point) && point != 0xFFFE && point != 0xFFFF;
    return is_allowed ? bytes : std::string_view();
  });
}

std::string dot_quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : printable_lines(text)) {
    if (c == '"' || c == '\\') result += '\\';
    if (c == '\n')
      result += "\\n";
    else
      result += c == '\t' ? ' ' : c;
  }
  return result + "\"";
}

}  // namespace plumbline
