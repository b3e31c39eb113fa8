#pragma once
/// \file tokens.h: a row of token numbers, in memory or in a file that is read where it is asked for.
///
/// Model: copies share what they hold, so every rank of a process may have one. A file is read with pread(2), a
/// sequence at a time, and never held: a mapping would be as small, but a file that shrinks under it ends the process
/// with SIGBUS, and a disk that fails too; a read tells both as errors. Not modelled: files that others rewrite in
/// place (what is read is what stands there then, checked against the vocabulary again). Checked against:
/// tests/runtime/training/data_feed_test.cpp.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace plumbline {

enum class TokenFileFormat : std::uint8_t { text, u16, u32 };

class Tokens {
 public:
  Tokens() = default;
  Tokens(std::vector<std::int32_t> numbers);
  /// Numbers of 8, 16 or 32 bits, little-endian, and nothing else. Throws InputError: no regular file, part of a token
  /// at the end, a token outside of `vocabulary` (all are looked at once); EnvironmentError when it cannot be read.
  [[nodiscard]] static Tokens of_file(const std::filesystem::path& path, TokenFileFormat format,
                                      std::int32_t vocabulary);

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
