#pragma once
/// \file wire.h: fields of a protobuf message, read where they are without copying what nobody asks for.
///
/// Model: a source of bytes read through a small window, so that skipping a field of gigabytes is a seek; a message is
/// a range of it. Every length is held against the message it stands in. Bytes looked at are counted and bounded.
/// Source: Protocol Buffers, "Encoding" (wire types 0, 1, 2 and 5; groups are refused).
/// Checked against: tests/error/onnx_test.cpp, tests/fuzz/onnx_fuzz.cpp.

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace plumbline::onnx {

/// Where the bytes are: a file, or a text in memory.
class ByteSource {
 public:
  /// `name` begins every message.
  ByteSource(std::string_view bytes, std::string name);
  /// Throws InputError when there is no such file.
  explicit ByteSource(const std::filesystem::path& file);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] std::uint8_t at(std::uint64_t offset);
  /// Throws InputError naming the byte.
  [[noreturn]] void refuse(std::uint64_t offset, const std::string& what, const std::string& expected) const;

 private:
  void load(std::uint64_t offset);

  std::string name_;
  std::uint64_t size_ = 0;
  std::ifstream file_;
  std::string_view memory_;
  std::vector<char> window_;
  std::uint64_t window_begin_ = 0;
  std::uint64_t looked_at_ = 0;
};

struct ByteRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  [[nodiscard]] std::uint64_t size() const { return end - begin; }
};

enum class WireType : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

struct Field {
  std::uint32_t number = 0;
  WireType type = WireType::varint;
  std::uint64_t value = 0;  ///< of numbers
  ByteRange bytes;          ///< of texts, messages and packed numbers; of the number itself otherwise
  [[nodiscard]] std::int64_t integer() const { return static_cast<std::int64_t>(value); }
  [[nodiscard]] bool is_bytes() const { return type == WireType::bytes; }
};

class Message {
 public:
  Message(ByteSource& source, ByteRange range) : source_(source), position_(range.begin), end_(range.end) {}
  /// False at the end. Throws InputError for what is no field or reaches beyond the message.
  [[nodiscard]] bool next(Field& field);

 private:
  std::uint64_t varint();
  std::uint64_t fixed(int bytes);

  ByteSource& source_;
  std::uint64_t position_;
  std::uint64_t end_;
};

/// Throws InputError when it is longer than `longest`.
[[nodiscard]] std::string text_of(ByteSource& source, ByteRange range, std::uint64_t longest = 4096);
/// A repeated number, packed or not: appends what `field` holds. Of floats the bits.
void append_numbers(ByteSource& source, const Field& field, WireType each, std::vector<std::uint64_t>& numbers,
                    std::size_t most);

}  // namespace plumbline::onnx
