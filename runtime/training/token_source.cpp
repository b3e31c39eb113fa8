#include "runtime/training/token_source.h"

#include <cmath>

#include "runtime/training/sample_text.h"

namespace plumbline {

std::optional<TokenFileFormat> token_file_format_from_text(std::string_view text) {
  if (text == "text") return TokenFileFormat::text;
  if (text == "u16") return TokenFileFormat::u16;
  if (text == "u32") return TokenFileFormat::u32;
  return std::nullopt;
}

TokenSource tokens_of_text(std::string_view text) {
  std::vector<std::int32_t> bytes;
  for (const char c : text) bytes.push_back(static_cast<unsigned char>(c));
  return {std::move(bytes)};
}

TokenSource read_tokens(const std::filesystem::path& path, TokenFileFormat format, std::int32_t vocabulary,
                        const TokenReading& reading) {
  return {Tokens::of_file(path, format, vocabulary, reading), vocabulary};
}

std::int64_t held_out_tokens(const TokenSource& source, double share, std::int64_t length) {
  const std::int64_t tokens = source.tokens.size();
  const auto held_out = static_cast<std::int64_t>(share * static_cast<double>(tokens));
  return held_out > length && tokens - held_out > length ? held_out : 0;
}

double unigram_entropy(const TokenSource& source, const StopReading& stop) {
  const std::int64_t trained = source.tokens.size() - source.held_out;
  std::vector<std::int64_t> counts(static_cast<std::size_t>(source.vocabulary));
  source.tokens.read_in_parts(0, trained, [&](std::span<const std::int32_t> part) {
    if (stop && stop()) throw ReadingStopped();
    for (const std::int32_t token : part) ++counts[static_cast<std::size_t>(token)];
  });
  double entropy = 0;
  for (const std::int64_t count : counts) {
    if (count == 0) continue;
    const double share = static_cast<double>(count) / static_cast<double>(trained);
    entropy -= share * std::log(share);
  }
  return entropy;
}

TokenSource sample_tokens() { return tokens_of_text(sample_text()); }

}  // namespace plumbline
