#include <filesystem>

#include "core/io/json.h"

#include "core/base/errors.h"
#include "core/io/json_file.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"

namespace plumbline::json_test {
namespace {

using Catch::Matchers::ContainsSubstring;

/// What the reader says about a text, or "accepted".
std::string refusal(std::string_view text) {
  try {
    (void)parse_json(text, "x.json");
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

std::string file_refusal(const std::filesystem::path& path) {
  try {
    (void)read_json_file(path);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

std::string nested(int levels) {
  const auto count = static_cast<std::size_t>(levels);
  return std::string(count, '[') + std::string(count, ']');
}

TEST_CASE("64 levels are read and 65 are refused") {
  CHECK(refusal(nested(64)) == "accepted");
  CHECK_THAT(refusal(nested(65)), ContainsSubstring("nested deeper than 64 levels; expected a flatter document"));
}

TEST_CASE("a million open brackets neither crash nor take long") {
  CHECK_THAT(refusal(std::string(1'000'000, '[')), ContainsSubstring("nested deeper than 64 levels"));
}

TEST_CASE("four million values are the limit", "[long]") {
  const auto zeros = [](std::size_t count) {
    std::string text = "[0";
    text.reserve(2 * count + 2);
    for (std::size_t i = 1; i < count; ++i) text += ",0";
    return text + "]";
  };
  CHECK(refusal(zeros(3'999'999)) == "accepted");  // and the array itself is the four-millionth
  CHECK_THAT(refusal(zeros(4'000'000)), ContainsSubstring("more than 4000000 values"));
}

TEST_CASE("a truncated document is refused wherever it ends") {
  const std::string whole = R"({"a": [1, 2.5, "x\n"], "b": {"c": true, "d": null}})";
  REQUIRE(refusal(whole) == "accepted");
  for (std::size_t length = 0; length < whole.size(); ++length) {
    INFO(whole.substr(0, length));
    CHECK_THAT(refusal(whole.substr(0, length)), ContainsSubstring("not valid JSON"));
  }
}

TEST_CASE("what is not JSON is refused with the byte where it goes wrong") {
  CHECK_THAT(refusal("{\"a\": 1,}"), ContainsSubstring("x.json: byte 9: not valid JSON"));
  for (const char* text : {"nul", "{'a': 1}", "[1 2]", "{\"a\" 1}", "NaN", "Infinity", "01", "+1", ".5", "1.", "\"\t\"",
                           "\"\\x\"", "// a\n1", "1 1", "\xff\xfe", "\"\xc3\x28\"", "\"\\ud800\""}) {
    INFO(text);
    CHECK(refusal(text) != "accepted");
  }
}

TEST_CASE("a NUL byte ends no document") {
  using namespace std::string_literals;
  CHECK(refusal("{\"a\": 1}\0{\"b\": 2}"s) == "x.json: byte 8: a NUL byte; expected a text without one");
  CHECK(refusal("{\"a\": 1}\0"s) != "accepted");
}

TEST_CASE("a message repeats no control characters and no long tokens") {
  const std::string text = refusal("[\"" + std::string(100'000, 'a') + "\x01\"]");
  CHECK(text.size() < 200);
  CHECK(std::none_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x20; }));
}

TEST_CASE("a key that appears twice is refused at its place") {
  CHECK_THAT(refusal(R"({"a": {"b": 1, "b": 2}})"), ContainsSubstring("x.json:/a/b: key \"b\" appears twice"));
}

TEST_CASE("numbers that no double holds are refused, large integers are kept") {
  CHECK_THAT(refusal("[1e400]"), ContainsSubstring("out of range"));
  CHECK_THAT(refusal("[-1e400]"), ContainsSubstring("out of range"));
  CHECK(refusal("[1" + std::string(1000, '0') + "]") != "accepted");
  CHECK(*parse_json("9223372036854775807", "x").if_integer() == 9'223'372'036'854'775'807);
  CHECK(*parse_json("-9223372036854775808", "x").if_integer() == std::numeric_limits<std::int64_t>::min());
  CHECK(*parse_json("18446744073709551615", "x").if_double() == Approx(1.8446744073709552e19));
  CHECK(*parse_json("1e-400", "x").if_double() == 0);
}

TEST_CASE("a 2 GB file is refused by its size, without being read") {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "big.json";
  std::ofstream(path).close();
  std::filesystem::resize_file(path, std::uintmax_t{2} << 30);  // sparse: takes no space
  CHECK_THAT(file_refusal(path), ContainsSubstring("big.json: file of 2048 MiB; expected at most 64 MiB"));
}

TEST_CASE("a file that is not there, a folder and a device are refused") {
  const TemporaryFolder folder;
  CHECK_THAT(file_refusal(folder / "none.json"), ContainsSubstring("no such file"));
  CHECK_THAT(file_refusal(folder.path()), ContainsSubstring("not a regular file"));
  CHECK_THAT(file_refusal("/dev/zero"), ContainsSubstring("not a regular file"));
}

TEST_CASE("an empty file is refused") {
  const TemporaryFolder folder;
  std::ofstream(folder / "empty.json").close();
  CHECK_THAT(file_refusal(folder / "empty.json"), ContainsSubstring("not valid JSON"));
}

TEST_CASE("reading is strict: missing, unknown and mistyped keys name their place") {
  const Json document = parse_json(R"({"hidden": 8, "layerz": 2, "name": 5})", "m.json");
  const JsonPlace root(document, "m.json");
  CHECK_THROWS_WITH(JsonObject(root).at("layers"), "m.json: key \"layers\" is missing; nearest: layerz");
  CHECK_THROWS_WITH(JsonObject(root).at("name").string(), "m.json:/name: found an integer 5; expected a string");
  CHECK_THROWS_WITH(JsonObject(root).at("hidden").integer(16, 32),
                    "m.json:/hidden: found an integer 8; expected a whole number from 16 to 32");
  JsonObject object(root);
  (void)object.at("hidden");
  (void)object.find("layers");
  CHECK_THROWS_WITH(object.finish(), "m.json:/layerz: unknown key; nearest: layers");
}

TEST_CASE("a document of another format or version is refused") {
  const Json document = parse_json(R"({"format": "plumbline.plan/2"})", "p.json");
  CHECK_THROWS_WITH(open_document(JsonPlace(document, "p.json"), "plumbline.plan/1"),
                    "p.json:/format: \"plumbline.plan/2\"; expected \"plumbline.plan/1\"");
}

}  // namespace
}  // namespace plumbline::json_test
