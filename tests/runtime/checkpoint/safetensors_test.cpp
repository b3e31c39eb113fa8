// Files of the Python package, byte for byte; then each way in which a file can be wrong.

#include "runtime/checkpoint/safetensors.h"

#include <cstring>
#include <filesystem>

#include "core/base/errors.h"
#include "tests/catch.h"
#include "tests/source_folder.h"
#include "tests/temporary_folder.h"
#include "tests/written_tensors.h"

namespace plumbline {
namespace {

const std::filesystem::path golden = std::filesystem::path(test_data_folder()) / "safetensors/python.safetensors";

std::string content(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

template <class T>
std::vector<T> values_of(const SafetensorsHeader& header, const char* name) {
  const StoredTensor* const tensor = header.find(name);
  REQUIRE(tensor != nullptr);
  std::vector<T> values(static_cast<std::size_t>(tensor->bytes) / sizeof(T));
  read_tensor(golden, header, *tensor, std::as_writable_bytes(std::span(values)));
  return values;
}

/// A file with this header and `data` bytes behind it.
std::string file_with(const std::string& header, std::size_t data) {
  const std::uint64_t length = header.size();
  std::string text(sizeof length, '\0');
  std::memcpy(text.data(), &length, sizeof length);
  return text + header + std::string(data, 'x');
}

std::string refusal(const std::string& file) {
  try {
    (void)parse_safetensors(file, static_cast<std::int64_t>(file.size()), "a.safetensors");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

// The values are those of tests/data/safetensors/make.py; 65504 is fp16 0x7bff, 1 is 0x3c00, -0.5 is 0xb800.
TEST_CASE("A file of the Python package is read") {
  const SafetensorsHeader header = read_safetensors_header(golden);
  CHECK(header.tensors.size() == 5);
  CHECK(header.metadata == Metadata{{"format", "pt"}});
  CHECK(header.find("layers.0.weight")->shape == std::vector<std::int64_t>{2, 3});
  CHECK(values_of<float>(header, "layers.0.weight") == std::vector<float>{0.0F, 1.5F, -2.0F, 3.25F, 1e30F, -0.0F});
  CHECK(header.find("layers.0.bias")->format == StoredFormat::fp16);
  CHECK(values_of<std::uint16_t>(header, "layers.0.bias") == std::vector<std::uint16_t>{0x3c00, 0xb800, 0x7bff});
  CHECK(header.find("step")->shape.empty());
  CHECK(values_of<std::int64_t>(header, "step") == std::vector<std::int64_t>{1234567890123});
  CHECK(values_of<float>(header, "empty").empty());
  CHECK(values_of<std::uint8_t>(header, "bytes") == std::vector<std::uint8_t>{1, 2, 255});
}

TEST_CASE("The same tensors are written as the Python package writes them, byte for byte") {
  const std::vector<float> weight{0.0F, 1.5F, -2.0F, 3.25F, 1e30F, -0.0F};
  const std::vector<std::uint16_t> bias{0x3c00, 0xb800, 0x7bff};
  const std::int64_t step = 1234567890123;
  const std::vector<std::uint8_t> bytes{1, 2, 255};
  const std::vector<TensorToWrite> tensors{
      {{"bytes", StoredFormat::u8, {3}}, std::as_bytes(std::span(bytes))},
      {{"empty", StoredFormat::fp32, {0, 4}}, {}},
      {{"layers.0.bias", StoredFormat::fp16, {3}}, std::as_bytes(std::span(bias))},
      {{"layers.0.weight", StoredFormat::fp32, {2, 3}}, std::as_bytes(std::span(weight))},
      {{"step", StoredFormat::i64, {}}, std::as_bytes(std::span(&step, 1))}};
  const TemporaryFolder folder;
  write_safetensors(folder / "ours.safetensors", tensors, {{"format", "pt"}});
  CHECK(content(folder / "ours.safetensors") == content(golden));
}

TEST_CASE("A file without tensors is a file") {
  CHECK(refusal(file_with("{}", 0)).empty());
  const TemporaryFolder folder;
  write_safetensors(folder / "none.safetensors", {}, {});
  CHECK(read_safetensors_header(folder / "none.safetensors").tensors.empty());
}

TEST_CASE("Wrong files are refused with what is wrong") {
  const auto with = [](const std::string& dtype, const std::string& shape, const std::string& offsets) {
    return R"({"a":{"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}";
  };
  struct Row {
    std::string file;
    const char* words;
  };
  const std::vector<Row> rows{
      {"short", "has 5 bytes; expected at least 8"},
      {std::string(8, '\xff'), "its header would be 18446744073709551615 bytes long"},
      {file_with("{}", 0).substr(0, 9), "its header would be 2 bytes long"},
      {file_with(" {}", 0), "does not begin with {"},
      {file_with("{", 0), "a.safetensors"},
      {file_with("{}", 1), "has 1 bytes of data; expected 0"},
      {file_with(with("F33", "[1]", "[0,4]"), 4), "unknown dtype 'F33'"},
      {file_with(with("F32", "[1]", "[0,8]"), 8), "hold 8 bytes; expected 4 bytes"},
      {file_with(with("F32", "[2]", "[8,0]"), 8), "is no range of bytes"},
      {file_with(with("F32", "[2]", "[0,8,9]"), 9), "is no range of bytes"},
      {file_with(with("F32", "[2]", "[0,8]"), 7), "8"},
      {file_with(with("F32", "[-1]", "[0,4]"), 4), "-1"},
      {file_with(with("F32", "[4294967296,4294967296]", "[0,0]"), 0), "a smaller shape"},
      {file_with(with("U8", "[1]", "[1,2]"), 2), "begin at byte 1, behind bytes of no tensor; expected 0"},
      {file_with(with("U8", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]", "[0,1]"), 1), "has 17 dimensions"},
      {file_with(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},)"
                 R"("b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})",
                 3),
       "/b: its data begin at byte 1, inside of another tensor; expected 2"},
      {file_with(R"({"a":{"dtype":"U8","shape":[],"data_offsets":[0,1],"more":1}})", 1), "more"},
      {file_with(R"({"a":{"dtype":"U8","shape":[]}})", 0), "data_offsets"},
      {file_with(R"({"__metadata__":{"n":1}})", 0), "__metadata__"},
      {file_with(R"({"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},)"
                 R"("a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}})",
                 0),
       "a"}};
  for (const Row& row : rows) CHECK_THAT(refusal(row.file), Catch::Matchers::ContainsSubstring(row.words));
}

TEST_CASE("A missing file and a folder are refused") {
  const TemporaryFolder folder;
  CHECK_THROWS_AS(read_safetensors_header(folder / "none"), InputError);
  CHECK_THROWS_AS(read_safetensors_header(folder.path()), InputError);
}

}  // namespace
}  // namespace plumbline
