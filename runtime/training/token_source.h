#pragma once
/// \file token_source.h: the tokens of a training run: a text as bytes, a file of token numbers, or the sample text.
///
/// Model: the whole is in memory. A text's tokens are its bytes (vocabulary 256); a token file is numbers of 16 or 32
/// bits, little-endian, nothing else.
/// Source of the sample: see sample_text.h. Not modelled: tokenizers, files larger than memory, several files.
/// Checked against: tests/runtime/training/data_feed_test.cpp.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

namespace plumbline {

enum class TokenFileFormat : std::uint8_t { text, u16, u32 };
[[nodiscard]] std::optional<TokenFileFormat> token_file_format_from_text(std::string_view text);

struct TokenSource {
  std::vector<std::int32_t> tokens;
  std::int32_t vocabulary = 256;  ///< one more than the largest token that can be
};

[[nodiscard]] TokenSource tokens_of_text(std::string_view text);
/// Throws InputError: no file, not a whole number of tokens, a token outside of `vocabulary`. `vocabulary` is the
/// model's.
[[nodiscard]] TokenSource read_tokens(const std::filesystem::path& path, TokenFileFormat format,
                                      std::int32_t vocabulary);
[[nodiscard]] TokenSource sample_tokens();

}  // namespace plumbline
