// XXH64 by the specification's own values, and of what comes in parts.
#include "runtime/checkpoint/checksum.h"

#include <fstream>

#include "core/base/errors.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"

namespace plumbline {
namespace {

// The values that xxh64sum of xxHash 0.8.1 prints.
TEST_CASE("A checksum is the one that xxh64sum prints") {
  CHECK(checksum_of(std::string_view("")) == "ef46db3751d8e999");
  CHECK(checksum_of(std::string_view("abc")) == "44bc2cf5ad770999");
}

TEST_CASE("A text in parts and a file have the checksum of the whole") {
  std::string text;
  for (int i = 0; i < 300'000; ++i) text += std::to_string(i);  // more than is read at a time
  Checksum parts;
  for (std::size_t i = 0; i < text.size(); i += 777)
    parts.add(std::as_bytes(std::span(text).subspan(i, std::min<std::size_t>(777, text.size() - i))));
  const TemporaryFolder folder;
  std::ofstream(folder / "file", std::ios::binary) << text;
  CHECK(parts.text() == checksum_of(std::string_view(text)));
  CHECK(checksum_of_file(folder / "file") == parts.text());
  CHECK_THROWS_AS(checksum_of_file(folder / "none"), EnvironmentError);
}

TEST_CASE("Sixteen small hexadecimal digits could be a checksum") {
  CHECK(is_checksum("44bc2cf5ad770999"));
  CHECK_FALSE(is_checksum("44BC2CF5AD770999"));
  CHECK_FALSE(is_checksum("44bc2cf5ad77099"));
  CHECK_FALSE(is_checksum("44bc2cf5ad77099x"));
}

}  // namespace
}  // namespace plumbline
