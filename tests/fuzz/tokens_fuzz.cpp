// Whatever the bytes of a data file: refused in one line, or every token lies inside the vocabulary.
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "runtime/training/token_source.h"
#include "tests/fuzz/fuzz.h"

using namespace plumbline;

namespace {

/// In memory: a disk would set the pace.
std::filesystem::path data_file() {
  return std::filesystem::path("/dev/shm") / ("plumbline-tokens-" + std::to_string(getpid()));
}

constexpr std::int32_t vocabulary = 1000;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::filesystem::path path = data_file();
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text_of(data, size);
  for (const TokenFileFormat format : {TokenFileFormat::text, TokenFileFormat::u16, TokenFileFormat::u32})
    require_accepted_or_refused([&] {
      const TokenSource source = read_tokens(path, format, vocabulary);
      source.tokens.read_in_parts(0, source.tokens.size(), [](std::span<const std::int32_t> part) {
        for (const std::int32_t token : part) require(token >= 0 && token < vocabulary);
      });
    });
  return 0;
}
