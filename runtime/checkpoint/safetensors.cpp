#include "runtime/checkpoint/safetensors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <fstream>
#include <set>

#include "core/base/errors.h"
#include "core/base/found_by_name.h"
#include "core/io/json.h"

namespace plumbline {
namespace {

static_assert(std::endian::native == std::endian::little, "the format is little-endian, and so are our buffers");

struct FormatRow {
  StoredFormat format;
  std::string_view text;
  std::int64_t bytes;
};
constexpr std::array formats{FormatRow{StoredFormat::boolean, "BOOL", 1},
                             FormatRow{StoredFormat::u8, "U8", 1},
                             FormatRow{StoredFormat::i8, "I8", 1},
                             FormatRow{StoredFormat::fp8_e5m2, "F8_E5M2", 1},
                             FormatRow{StoredFormat::fp8_e4m3, "F8_E4M3", 1},
                             FormatRow{StoredFormat::i16, "I16", 2},
                             FormatRow{StoredFormat::u16, "U16", 2},
                             FormatRow{StoredFormat::fp16, "F16", 2},
                             FormatRow{StoredFormat::bf16, "BF16", 2},
                             FormatRow{StoredFormat::i32, "I32", 4},
                             FormatRow{StoredFormat::u32, "U32", 4},
                             FormatRow{StoredFormat::fp32, "F32", 4},
                             FormatRow{StoredFormat::fp64, "F64", 8},
                             FormatRow{StoredFormat::i64, "I64", 8},
                             FormatRow{StoredFormat::u64, "U64", 8}};

constexpr std::int64_t length_bytes = 8;
constexpr std::int64_t most_header_bytes = std::int64_t{64} << 20;
constexpr std::size_t most_dimensions = 16;
constexpr std::int64_t most_elements = std::int64_t{1} << 58;  // eight bytes each still fit
constexpr const char* metadata_key = "__metadata__";

[[noreturn]] void refuse(const std::string& where, const std::string& what, const std::string& expected) {
  throw InputError({where, what, expected, ""});
}

std::vector<std::int64_t> integers(const JsonPlace& place, std::int64_t largest) {
  std::vector<std::int64_t> values;
  for (const JsonPlace& element : place.elements()) values.push_back(element.integer(0, largest));
  return values;
}

StoredFormat format_at(const JsonPlace& place) {
  const std::string& text = place.string();
  if (const auto format = stored_format_from_text(text)) return *format;
  std::vector<std::string> known;
  for (const FormatRow& row : formats) known.emplace_back(row.text);
  throw InputError({place.where(), "unknown dtype '" + text + "'", "BOOL, U8, ..., F32, F64, I64 or U64",
                    nearest_text(text, known)});
}

StoredTensor tensor_at(const std::string& name, const JsonPlace& place, std::int64_t data_bytes) {
  JsonObject object(place);
  StoredTensor tensor{name, format_at(object.at("dtype")), integers(object.at("shape"), most_elements), 0, 0};
  const JsonPlace offsets_place = object.at("data_offsets");
  const std::vector<std::int64_t> offsets = integers(offsets_place, data_bytes);
  object.finish();
  if (tensor.shape.size() > most_dimensions)
    refuse(place.where(), "has " + std::to_string(tensor.shape.size()) + " dimensions", "at most 16");
  if (offsets.size() != 2 || offsets[0] > offsets[1])
    refuse(offsets_place.where(), "is no range of bytes", "[first, past the last]");
  const auto elements = element_count(tensor.shape);
  const std::int64_t bytes = offsets[1] - offsets[0];
  if (!elements || *elements * bytes_of(tensor.format) != bytes)
    refuse(place.where(), "its data_offsets hold " + std::to_string(bytes) + " bytes",
           elements ? std::to_string(*elements * bytes_of(tensor.format)) + " bytes for its shape" : "a smaller shape");
  tensor.first = offsets[0];
  tensor.bytes = bytes;
  return tensor;
}

Metadata metadata_at(const JsonPlace& place) {
  Metadata metadata;
  for (const auto& [key, value] : JsonObject(place).members()) metadata.emplace_back(key, value.string());
  return metadata;
}

/// Every byte of the data belongs to one tensor.
void check_cover(const SafetensorsHeader& header, const std::string& source) {
  std::int64_t covered = 0;
  for (const StoredTensor& tensor : header.tensors) {
    if (tensor.first != covered)
      refuse(source + ":/" + tensor.name,
             "its data begin at byte " + std::to_string(tensor.first) +
                 (tensor.first < covered ? ", inside of another tensor" : ", behind bytes of no tensor"),
             std::to_string(covered));
    covered += tensor.bytes;
  }
  if (covered != header.data_bytes)
    refuse(source, "has " + std::to_string(header.data_bytes) + " bytes of data",
           std::to_string(covered) + " as its tensors have");
}

std::int64_t header_length(std::string_view begin, std::int64_t file_bytes, const std::string& source) {
  if (file_bytes < length_bytes || begin.size() < static_cast<std::size_t>(length_bytes))
    refuse(source, "has " + std::to_string(file_bytes) + " bytes", "at least 8, a safetensors file");
  std::uint64_t length = 0;
  std::memcpy(&length, begin.data(), sizeof length);
  if (length > static_cast<std::uint64_t>(std::min(most_header_bytes, file_bytes - length_bytes)))
    refuse(source, "its header would be " + std::to_string(length) + " bytes long",
           "at most 64 MiB, and no more than the file has");
  return static_cast<std::int64_t>(length);
}

std::ifstream opened(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error))
    refuse(path.string(), "is no file that can be read", "a safetensors file");
  std::ifstream file(path, std::ios::binary);
  if (!file) throw EnvironmentError(path.string() + ": cannot be opened");
  return file;
}

void read_exactly(std::ifstream& file, char* to, std::int64_t bytes, const std::filesystem::path& path) {
  file.read(to, static_cast<std::streamsize>(bytes));
  if (file.gcount() != bytes) throw EnvironmentError(path.string() + ": cannot be read");
}

std::vector<TensorHeader> checked(std::vector<TensorHeader> tensors) {
  std::set<std::string> names;
  for (const TensorHeader& tensor : tensors)
    check(tensor.name != metadata_key && names.insert(tensor.name).second && element_count(tensor.shape).has_value(),
          "written tensors have different names and a size");
  std::sort(tensors.begin(), tensors.end(), is_written_before);
  return tensors;
}

/// The header's text, padded with spaces so that the data begin at a multiple of eight.
std::string header_text(const std::vector<TensorHeader>& order, const Metadata& metadata) {
  Json::Object object;
  if (!metadata.empty()) {
    Json::Object texts;
    for (const auto& [key, value] : metadata) texts.emplace_back(key, value);
    object.emplace_back(metadata_key, std::move(texts));
  }
  std::int64_t first = 0;
  for (const TensorHeader& tensor : order) {
    const std::int64_t end = first + tensor.bytes();
    Json::Array shape(tensor.shape.begin(), tensor.shape.end());
    object.emplace_back(tensor.name, Json::Object{{"dtype", to_text(tensor.format)},
                                                  {"shape", std::move(shape)},
                                                  {"data_offsets", Json::Array{first, end}}});
    first = end;
  }
  std::string text = to_json_text(object, -1);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  return text;
}

}  // namespace

std::string_view to_text(StoredFormat format) { return formats[static_cast<std::size_t>(format)].text; }

std::optional<StoredFormat> stored_format_from_text(std::string_view text) {
  for (const FormatRow& row : formats)
    if (row.text == text) return row.format;
  return std::nullopt;
}

std::int64_t bytes_of(StoredFormat format) { return formats[static_cast<std::size_t>(format)].bytes; }

const StoredTensor* SafetensorsHeader::find(std::string_view name) const { return named(tensors, name); }

std::optional<std::int64_t> element_count(std::span<const std::int64_t> shape) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) {
    if (size < 0 || size > most_elements || (size > 0 && count > most_elements / size)) return std::nullopt;
    count *= size;
  }
  return count;
}

SafetensorsHeader parse_safetensors(std::string_view begin, std::int64_t file_bytes, const std::string& source) {
  const std::int64_t length = header_length(begin, file_bytes, source);
  const std::string_view text = begin.substr(static_cast<std::size_t>(length_bytes), static_cast<std::size_t>(length));
  check(static_cast<std::int64_t>(text.size()) == length, "the caller gives the whole header");
  if (text.empty() || text.front() != '{') refuse(source, "its header does not begin with {", "a safetensors file");
  const Json json = parse_json(text, source);
  SafetensorsHeader header;
  header.data_begin = length_bytes + length;
  header.data_bytes = file_bytes - header.data_begin;
  for (const auto& [name, place] : JsonObject(JsonPlace(json, source + ":")).members()) {
    if (name == metadata_key)
      header.metadata = metadata_at(place);
    else
      header.tensors.push_back(tensor_at(name, place, header.data_bytes));
  }
  std::stable_sort(header.tensors.begin(), header.tensors.end(), [](const StoredTensor& a, const StoredTensor& b) {
    return std::pair(a.first, a.bytes) < std::pair(b.first, b.bytes);
  });
  check_cover(header, source);
  return header;
}

SafetensorsHeader read_safetensors_header(const std::filesystem::path& path) {
  std::ifstream file = opened(path);
  const auto file_bytes = static_cast<std::int64_t>(std::filesystem::file_size(path));
  std::string begin(static_cast<std::size_t>(std::min(file_bytes, length_bytes)), '\0');
  read_exactly(file, begin.data(), static_cast<std::int64_t>(begin.size()), path);
  const std::int64_t length = header_length(begin, file_bytes, path.string());
  begin.resize(static_cast<std::size_t>(length_bytes + length));
  read_exactly(file, begin.data() + length_bytes, length, path);
  return parse_safetensors(begin, file_bytes, path.string());
}

void read_tensor(const std::filesystem::path& path, const SafetensorsHeader& header, const StoredTensor& tensor,
                 std::int64_t first, std::span<std::byte> to) {
  check(first >= 0 && first + std::ssize(to) <= tensor.bytes, "what is read of a tensor lies inside of it");
  std::ifstream file = opened(path);
  file.seekg(header.data_begin + tensor.first + first);
  read_exactly(file, reinterpret_cast<char*>(to.data()), std::ssize(to), path);
}

std::int64_t TensorHeader::bytes() const { return element_count(shape).value_or(0) * bytes_of(format); }

bool is_written_before(const TensorHeader& a, const TensorHeader& b) {
  return a.format != b.format ? a.format > b.format : a.name < b.name;
}

SafetensorsWriter::SafetensorsWriter(const std::filesystem::path& path, std::vector<TensorHeader> tensors,
                                     const Metadata& metadata)
    : tensors_(checked(std::move(tensors))), file_(path) {
  const std::string text = header_text(tensors_, metadata);
  const std::uint64_t length = text.size();
  file_.write(std::as_bytes(std::span(&length, 1)));
  file_.write(std::as_bytes(std::span(text)));
}

void SafetensorsWriter::append(std::span<const std::byte> data) {
  check(next_ < tensors_.size() && std::ssize(data) == tensors_[next_].bytes(),
        "a written tensor has the bytes of its shape");
  file_.write(data);
  ++next_;
}

WrittenFile SafetensorsWriter::commit() {
  check(next_ == tensors_.size(), "every tensor of a file is written");
  return file_.commit();
}

}  // namespace plumbline
