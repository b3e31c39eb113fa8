#include "models/import/onnx/wire.h"

#include <algorithm>

#include "core/base/errors.h"

namespace plumbline::onnx {
namespace {

constexpr std::size_t window_bytes = std::size_t{16} * 1024;
/// Structure of a graph, without weights: the largest published export has some tens of MiB.
constexpr std::uint64_t most_looked_at = 256ULL << 20;

}  // namespace

ByteSource::ByteSource(std::string_view bytes, std::string name)
    : name_(std::move(name)), size_(bytes.size()), memory_(bytes) {}

ByteSource::ByteSource(const std::filesystem::path& file) : name_(file.string()) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error))
    throw InputError({name_, "is no file", "the path of an ONNX model", ""});
  size_ = std::filesystem::file_size(file, error);
  file_.open(file, std::ios::binary);
  if (error || !file_) throw EnvironmentError(name_ + ": cannot be opened");
}

void ByteSource::refuse(std::uint64_t offset, const std::string& what, const std::string& expected) const {
  throw InputError({name_ + ", byte " + std::to_string(offset), what, expected, ""});
}

void ByteSource::load(std::uint64_t offset) {
  const std::uint64_t count = std::min<std::uint64_t>(window_bytes, size_ - offset);
  looked_at_ += count;
  if (looked_at_ > most_looked_at)
    refuse(offset, "more than 256 MiB of structure", "a graph whose weights are tensors or in files of their own");
  window_.resize(count);
  window_begin_ = offset;
  if (!memory_.empty()) {
    std::copy_n(memory_.begin() + static_cast<std::ptrdiff_t>(offset), count, window_.begin());
    return;
  }
  file_.clear();
  file_.seekg(static_cast<std::streamoff>(offset));
  file_.read(window_.data(), static_cast<std::streamsize>(count));
  if (!file_) throw EnvironmentError(name_ + ": cannot be read at byte " + std::to_string(offset));
}

std::uint8_t ByteSource::at(std::uint64_t offset) {
  check(offset < size_, "every read is held against its message");
  if (offset < window_begin_ || offset >= window_begin_ + window_.size()) load(offset);
  return static_cast<std::uint8_t>(window_[offset - window_begin_]);
}

std::uint64_t Message::varint() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (position_ == end_) source_.refuse(position_, "the message ends inside a number", "a complete ONNX file");
    const std::uint8_t byte = source_.at(position_++);
    value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
    if (byte < 0x80U) return value;
  }
  source_.refuse(position_, "a number of more than 10 bytes", "an ONNX file");
}

std::uint64_t Message::fixed(int bytes) {
  if (end_ - position_ < static_cast<std::uint64_t>(bytes))
    source_.refuse(position_, "the message ends inside a number", "a complete ONNX file");
  std::uint64_t value = 0;
  for (int i = 0; i < bytes; ++i) value |= static_cast<std::uint64_t>(source_.at(position_++)) << (8 * i);
  return value;
}

bool Message::next(Field& field) {
  if (position_ == end_) return false;
  const std::uint64_t start = position_;
  const std::uint64_t tag = varint();
  constexpr std::uint64_t largest_field = 536'870'911;  // 29 bits
  if (tag >> 3 == 0 || tag >> 3 > largest_field) source_.refuse(start, "no field of a message", "an ONNX file");
  field.number = static_cast<std::uint32_t>(tag >> 3);
  field.type = static_cast<WireType>(tag & 7);
  field.value = 0;
  field.bytes.begin = position_;
  switch (field.type) {
    case WireType::varint: field.value = varint(); break;
    case WireType::fixed64: field.value = fixed(8); break;
    case WireType::fixed32: field.value = fixed(4); break;
    case WireType::bytes: {
      const std::uint64_t length = varint();
      if (length > end_ - position_)
        source_.refuse(
            start,
            "a field of " + std::to_string(length) + " bytes where " + std::to_string(end_ - position_) + " are left",
            "a complete ONNX file");
      field.bytes.begin = position_;
      position_ += length;
      break;
    }
    default: source_.refuse(start, "wire type " + std::to_string(tag & 7), "an ONNX file");
  }
  field.bytes.end = position_;
  return true;
}

std::string text_of(ByteSource& source, ByteRange range, std::uint64_t longest) {
  if (range.size() > longest)
    source.refuse(range.begin, "a name of " + std::to_string(range.size()) + " bytes",
                  "at most " + std::to_string(longest));
  std::string text;
  text.reserve(range.size());
  for (std::uint64_t i = range.begin; i < range.end; ++i) {
    const auto c = static_cast<char>(source.at(i));
    const bool is_control = static_cast<unsigned char>(c) < 0x20U || c == 0x7F;
    text += is_control ? '?' : c;  // names are printed
  }
  return text;
}

void append_numbers(ByteSource& source, const Field& field, WireType each, std::vector<std::uint64_t>& numbers,
                    std::size_t most) {
  const auto add = [&](std::uint64_t value, std::uint64_t offset) {
    if (numbers.size() >= most)
      source.refuse(offset, "more than " + std::to_string(most) + " numbers in a list", "fewer");
    numbers.push_back(value);
  };
  if (!field.is_bytes()) return add(field.value, field.bytes.begin);
  // Packed numbers have no tags: a message's reader of numbers does for them too.
  std::uint64_t position = field.bytes.begin;
  while (position < field.bytes.end) {
    std::uint64_t value = 0;
    if (each == WireType::varint) {
      unsigned shift = 0;
      for (;; shift += 7) {
        if (position == field.bytes.end || shift > 63)
          source.refuse(position, "a list that ends inside a number", "a complete ONNX file");
        const std::uint8_t byte = source.at(position++);
        value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
        if (byte < 0x80U) break;
      }
    } else {
      const std::uint64_t width = each == WireType::fixed32 ? 4 : 8;
      if (field.bytes.end - position < width)
        source.refuse(position, "a list that ends inside a number", "a complete ONNX file");
      for (std::uint64_t i = 0; i < width; ++i) value |= static_cast<std::uint64_t>(source.at(position++)) << (8 * i);
    }
    add(value, position);
  }
}

}  // namespace plumbline::onnx
