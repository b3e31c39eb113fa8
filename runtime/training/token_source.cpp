#include "runtime/training/token_source.h"

#include <cstring>
#include <fstream>

#include "core/base/errors.h"
#include "runtime/training/sample_text.h"

namespace plumbline {
namespace {

std::string content(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error))
    throw InputError({path.string(), "is no file that can be read", "a text or a file of tokens", ""});
  std::ifstream file(path, std::ios::binary);
  std::string text(static_cast<std::size_t>(std::filesystem::file_size(path)), '\0');
  if (!file.read(text.data(), static_cast<std::streamsize>(text.size())))
    throw EnvironmentError(path.string() + ": cannot be read");
  return text;
}

template <class Stored>
std::vector<std::int32_t> numbers_of(const std::string& text, std::int32_t vocabulary, const std::string& where) {
  if (text.size() % sizeof(Stored) != 0)
    throw InputError({where, "has " + std::to_string(text.size()) + " bytes",
                      "a multiple of " + std::to_string(sizeof(Stored)), ""});
  std::vector<std::int32_t> tokens(text.size() / sizeof(Stored));
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    Stored stored = 0;
    std::memcpy(&stored, text.data() + i * sizeof stored, sizeof stored);
    if (std::int64_t{stored} >= vocabulary)
      throw InputError({where, "token " + std::to_string(i) + " is " + std::to_string(stored),
                        "below the vocabulary of " + std::to_string(vocabulary), ""});
    tokens[i] = static_cast<std::int32_t>(stored);
  }
  return tokens;
}

}  // namespace

std::optional<TokenFileFormat> token_file_format_from_text(std::string_view text) {
  if (text == "text") return TokenFileFormat::text;
  if (text == "u16") return TokenFileFormat::u16;
  if (text == "u32") return TokenFileFormat::u32;
  return std::nullopt;
}

TokenSource tokens_of_text(std::string_view text) {
  TokenSource source;
  for (const char c : text) source.tokens.push_back(static_cast<unsigned char>(c));
  return source;
}

TokenSource read_tokens(const std::filesystem::path& path, TokenFileFormat format, std::int32_t vocabulary) {
  const std::string text = content(path);
  const std::string where = path.string();
  switch (format) {
    case TokenFileFormat::text: return {numbers_of<std::uint8_t>(text, vocabulary, where), vocabulary};
    case TokenFileFormat::u16: return {numbers_of<std::uint16_t>(text, vocabulary, where), vocabulary};
    case TokenFileFormat::u32: return {numbers_of<std::uint32_t>(text, vocabulary, where), vocabulary};
  }
  return {};
}

TokenSource sample_tokens() { return tokens_of_text(sample_text()); }

}  // namespace plumbline
