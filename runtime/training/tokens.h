#pragma once
/// \file tokens.h: a sequence of token ids, held in memory or read from a file on demand.
///
/// Model: copies share their data, so every rank of a process can hold one. A file is read with pread(2), one sequence
/// at a time, and is not kept in memory. It is not mapped either: when a mapped file shrinks or its disk fails, SIGBUS
/// ends the process, while a read reports an error. Not modelled: files that others rewrite in place (their current
/// content is read, and checked against the vocabulary again).
/// Checked against: tests/runtime/training/data_feed_test.cpp.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

namespace plumbline {

enum class TokenFileFormat : std::uint8_t { text, u16, u32 };

/// That a run trains on: places of a sequence in the data are drawn with 32 bits (data_feed.h).
inline constexpr std::int64_t most_trained_tokens = 0xffffffff;

/// Asked while a pass over all tokens goes on; true ends it.
using StopReading = std::function<bool()>;
/// How far a file of tokens is read.
struct TokenReading {
  std::int64_t most_tokens = std::numeric_limits<std::int64_t>::max();  ///< of the whole file
  StopReading stop = {};
};
/// A pass that was ended so.
class ReadingStopped : public std::runtime_error {
 public:
  ReadingStopped() : std::runtime_error("the tokens are read no further") {}
};

class Tokens {
 public:
  Tokens() = default;
  Tokens(std::vector<std::int32_t> numbers);
  /// Numbers of 8, 16 or 32 bits, little-endian, and nothing else. Throws InputError: no regular file, more tokens than
  /// `reading` allows or part of one at the end (which its size shows), a token outside of `vocabulary` (all are
  /// looked at once); EnvironmentError when it cannot be read; ReadingStopped.
  [[nodiscard]] static Tokens of_file(const std::filesystem::path& path, TokenFileFormat format,
                                      std::int32_t vocabulary, const TokenReading& reading = {});

  [[nodiscard]] std::int64_t size() const;
  [[nodiscard]] bool empty() const { return size() == 0; }
  /// `count` numbers from the `first`th, all of which exist. Throws EnvironmentError when the file has been shortened
  /// or changed since it was opened, or cannot be read.
  [[nodiscard]] std::vector<std::int32_t> read(std::int64_t first, std::int64_t count) const;

  class Store;
  using Part = std::function<void(std::span<const std::int32_t>)>;
  /// Hands on `count` numbers from the `first`th in order, a million at a time. Throws as `read` does.
  void read_in_parts(std::int64_t first, std::int64_t count, const Part& part) const;

 private:
  explicit Tokens(std::shared_ptr<const Store> store) : store_(std::move(store)) {}
  std::shared_ptr<const Store> store_;
};

}  // namespace plumbline
