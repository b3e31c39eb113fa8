#pragma once
/// \file safetensors.h: tensors in one file, in the published safetensors format, read strictly.
///
/// Format: eight bytes with the header's length, little-endian; a JSON header {name: {dtype, shape, data_offsets}},
/// __metadata__ of texts; the data, row-major, little-endian, each byte in exactly one tensor.
/// Source: README of the safetensors project, "Format" (version 0.8), whose own limit for the header is 100 MB; ours is
/// the 64 MiB of core/io/json.h.
/// Not modelled: formats of fewer than 8 bits, complex numbers; big-endian machines.
/// Checked against: tests/runtime/checkpoint/safetensors_test.cpp (files of the Python package, byte for byte),
/// tests/fuzz/safetensors_fuzz.cpp.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/checkpoint/durable_file.h"

namespace plumbline {

/// In the order of the published package, which writes the last of these first.
enum class StoredFormat : std::uint8_t {
  boolean,
  u8,
  i8,
  fp8_e5m2,
  fp8_e4m3,
  i16,
  u16,
  fp16,
  bf16,
  i32,
  u32,
  fp32,
  fp64,
  i64,
  u64
};
[[nodiscard]] std::string_view to_text(StoredFormat format);
[[nodiscard]] std::optional<StoredFormat> stored_format_from_text(std::string_view text);
[[nodiscard]] std::int64_t bytes_of(StoredFormat format);

struct StoredTensor {
  std::string name;
  StoredFormat format = StoredFormat::fp32;
  std::vector<std::int64_t> shape;
  std::int64_t first = 0;  ///< byte in the data
  std::int64_t bytes = 0;
};

using Metadata = std::vector<std::pair<std::string, std::string>>;

struct SafetensorsHeader {
  std::vector<StoredTensor> tensors;  ///< in the order of their data
  Metadata metadata;
  std::int64_t data_begin = 0;  ///< byte of the file
  std::int64_t data_bytes = 0;

  /// The tensor of this name, or null pointer.
  [[nodiscard]] const StoredTensor* find(std::string_view name) const;
};

/// The product of the dimensions; none when it leaves 2^62 or a dimension is negative.
[[nodiscard]] std::optional<std::int64_t> element_count(std::span<const std::int64_t> shape);

/// Reads the header from the beginning of a file of `file_bytes` bytes, of which `begin` holds at least eight and the
/// header. `source` names it in messages. Throws InputError.
[[nodiscard]] SafetensorsHeader parse_safetensors(std::string_view begin, std::int64_t file_bytes,
                                                  const std::string& source);
/// Throws InputError for a missing or wrong file, EnvironmentError when the disk fails.
[[nodiscard]] SafetensorsHeader read_safetensors_header(const std::filesystem::path& path);
/// The bytes of one tensor from `first` on that fill `to`.
void read_tensor(const std::filesystem::path& path, const SafetensorsHeader& header, const StoredTensor& tensor,
                 std::int64_t first, std::span<std::byte> to);
/// All its bytes; `to` has its size.
inline void read_tensor(const std::filesystem::path& path, const SafetensorsHeader& header, const StoredTensor& tensor,
                        std::span<std::byte> to) {
  read_tensor(path, header, tensor, 0, to);
}

/// A tensor that will be written.
struct TensorHeader {
  std::string name;
  StoredFormat format = StoredFormat::fp32;
  std::vector<std::int64_t> shape;

  [[nodiscard]] std::int64_t bytes() const;
};

/// Writes a file tensor by tensor, as the Python package does: widest formats first, then by name. It is written under
/// a temporary name alongside `path`, flushed to the disk and renamed: the old file or the new one. Throws
/// EnvironmentError.
class SafetensorsWriter {
 public:
  SafetensorsWriter(const std::filesystem::path& path, std::vector<TensorHeader> tensors, const Metadata& metadata);

  /// In the order in which their data are due.
  [[nodiscard]] const std::vector<TensorHeader>& tensors() const { return tensors_; }
  /// The data of the next tensor.
  void append(std::span<const std::byte> data);
  /// After the last tensor.
  WrittenFile commit();

 private:
  std::vector<TensorHeader> tensors_;
  std::size_t next_ = 0;
  DurableFile file_;
};

/// The order in which the Python package writes tensors.
[[nodiscard]] bool is_written_before(const TensorHeader& a, const TensorHeader& b);

}  // namespace plumbline
