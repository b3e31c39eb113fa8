#pragma once
/// \file token_source.h: the tokens of a training run: a text as bytes, a file of token numbers, or the sample text.
///
/// Model: a text's tokens are its bytes (vocabulary 256); a token file is numbers of 16 or 32 bits, little-endian,
/// nothing else. A file is read where it is asked for (tokens.h): it may be larger than memory.
/// Source of the sample: see sample_text.h. Not modelled: tokenizers, several files.
/// Checked against: tests/runtime/training/data_feed_test.cpp.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

#include "runtime/training/tokens.h"

namespace plumbline {

[[nodiscard]] std::optional<TokenFileFormat> token_file_format_from_text(std::string_view text);

struct TokenSource {
  Tokens tokens;
  std::int32_t vocabulary = 256;  ///< one more than the largest token that can be
  std::int64_t held_out = 0;      ///< tokens at the end that are not trained on
};

/// Tokens at the end of `source` that `share` of it comes to: 0 where they would not make a sequence of `length` with
/// its targets, or would not leave one to train on.
[[nodiscard]] std::int64_t held_out_tokens(const TokenSource& source, double share, std::int64_t length);
/// Of the tokens that are trained on, in nats: the loss of a model that knows only how often each token occurs.
/// Source: Shannon, "A mathematical theory of communication" (1948), section 6.
/// Throws ReadingStopped.
[[nodiscard]] double unigram_entropy(const TokenSource& source, const StopReading& stop = {});

[[nodiscard]] TokenSource tokens_of_text(std::string_view text);
/// Throws what Tokens::of_file does. `vocabulary` is the model's.
[[nodiscard]] TokenSource read_tokens(const std::filesystem::path& path, TokenFileFormat format,
                                      std::int32_t vocabulary, const TokenReading& reading = {});
[[nodiscard]] TokenSource sample_tokens();

}  // namespace plumbline
