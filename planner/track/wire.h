#pragma once
/// \file wire.h: bytes of protocol buffers and of checked records, as trackers' files have them.
///
/// Source: protobuf.dev/programming-guides/encoding (proto3: a message is its fields one behind the other; absent
/// fields hold their default). Only what is written here: no groups, no packed fields, no reading.

#include <cstdint>
#include <string>
#include <string_view>

namespace plumbline::track {

/// Little-endian.
[[nodiscard]] std::string bytes_of(std::uint16_t number);
[[nodiscard]] std::string bytes_of(std::uint32_t number);
[[nodiscard]] std::string bytes_of(std::uint64_t number);

/// A message that grows field by field.
class Message {
 public:
  Message& integer(int field, std::int64_t value);
  Message& real(int field, double value);        ///< type double
  Message& real_single(int field, float value);  ///< type float
  Message& text(int field, std::string_view value);
  Message& message(int field, const Message& value) { return text(field, value.bytes_); }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

/// CRC-32 of the type byte and the data, as zlib's crc32 (Weights & Biases); CRC-32C, masked as TFRecord says.
[[nodiscard]] std::uint32_t crc32(char type, std::string_view data);
[[nodiscard]] std::uint32_t masked_crc32c(std::string_view data);

}  // namespace plumbline::track
