#pragma once
/// \file checksum.h: what tells whether the bytes of a file are those that were written.
///
/// Model: XXH64 with seed 0, as 16 hexadecimal digits: `xxh64sum` prints the same. It is for damage, not for forgery: a
/// changed file has the same checksum with a chance of 2^-64, and one changed byte always another.
/// Source: Yann Collet, xxHash 0.8, doc/xxhash_spec.md (XXH64). Checked against:
/// tests/runtime/checkpoint/checksum_test.cpp (the specification's own values).

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace plumbline {

inline constexpr std::size_t checksum_digits = 16;

/// Of bytes that come one part after another.
class Checksum {
 public:
  Checksum();
  ~Checksum();
  Checksum(const Checksum&) = delete;
  Checksum& operator=(const Checksum&) = delete;

  void add(std::span<const std::byte> data);
  /// Of all bytes so far.
  [[nodiscard]] std::string text() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

[[nodiscard]] std::string checksum_of(std::string_view text);
[[nodiscard]] std::string checksum_of(std::span<const std::byte> data);
/// Reads the whole file, a part at a time. Throws EnvironmentError when the disk fails.
[[nodiscard]] std::string checksum_of_file(const std::filesystem::path& path);
/// Whether a text could be a checksum.
[[nodiscard]] bool is_checksum(std::string_view text);

}  // namespace plumbline
