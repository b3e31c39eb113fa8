#include "planner/track/wire.h"

#include <bit>
#include <boost/crc.hpp>

namespace plumbline::track {
namespace {

enum class WireType : std::uint8_t { varint = 0, fixed64 = 1, delimited = 2, fixed32 = 5 };

template <class Number>
std::string little_endian(Number number) {
  std::string bytes;
  for (std::size_t i = 0; i < sizeof number; ++i) bytes += static_cast<char>((number >> (8 * i)) & 0xff);
  return bytes;
}

void add_varint(std::string& bytes, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>((value & 0x7f) | 0x80);
  bytes += static_cast<char>(value);
}

void add_key(std::string& bytes, int field, WireType type) {
  add_varint(bytes, static_cast<std::uint64_t>(field) << 3 | static_cast<std::uint64_t>(type));
}

}  // namespace

std::string bytes_of(std::uint16_t number) { return little_endian(number); }
std::string bytes_of(std::uint32_t number) { return little_endian(number); }
std::string bytes_of(std::uint64_t number) { return little_endian(number); }

Message& Message::integer(int field, std::int64_t value) {
  add_key(bytes_, field, WireType::varint);
  add_varint(bytes_, static_cast<std::uint64_t>(value));
  return *this;
}

Message& Message::real(int field, double value) {
  add_key(bytes_, field, WireType::fixed64);
  bytes_ += bytes_of(std::bit_cast<std::uint64_t>(value));
  return *this;
}

Message& Message::real_single(int field, float value) {
  add_key(bytes_, field, WireType::fixed32);
  bytes_ += bytes_of(std::bit_cast<std::uint32_t>(value));
  return *this;
}

Message& Message::text(int field, std::string_view value) {
  add_key(bytes_, field, WireType::delimited);
  add_varint(bytes_, value.size());
  bytes_ += value;
  return *this;
}

std::uint32_t crc32(char type, std::string_view data) {
  boost::crc_32_type crc;
  crc.process_byte(static_cast<unsigned char>(type));
  crc.process_bytes(data.data(), data.size());
  return crc.checksum();
}

std::uint32_t masked_crc32c(std::string_view data) {
  boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true> crc;
  crc.process_bytes(data.data(), data.size());
  const std::uint32_t plain = crc.checksum();
  return ((plain >> 15) | (plain << 17)) + 0xa282ead8U;  // tensorflow/core/lib/hash/crc32c.h
}

}  // namespace plumbline::track
