#include <filesystem>

#include "models/network_catalog.h"

#include "core/base/errors.h"
#include "core/io/output_file.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"

namespace plumbline::network_catalog_test {
namespace {

using Catch::Matchers::ContainsSubstring;

std::string refusal(std::string_view name) {
  try {
    (void)find_network(name);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("A mistyped network gets the nearest names") {
  CHECK_THAT(refusal("lama-3-70b"), ContainsSubstring("nearest: llama-3-70b"));
  CHECK_THAT(refusal("meta-llama/Meta-Lama-3-70B"), ContainsSubstring("llama-3-70b"));
  CHECK_THAT(refusal("mixtral"), ContainsSubstring("mixtral-8x7b"));
  CHECK_THAT(refusal(""), ContainsSubstring("neither in the catalogue nor a file"));
  CHECK_THAT(refusal("qqqqqqqqqqqqqqqqqqqqqqq"), !ContainsSubstring("nearest"));
}

TEST_CASE("A path to nothing is a missing file") {
  CHECK_THAT(refusal("./no/such/config.json"), ContainsSubstring("no such file"));
}

TEST_CASE("Our own format is read strictly") {
  const TemporaryFolder folder;
  const auto written = [&](const std::string& text) {
    const std::filesystem::path path = folder.path() / "net.json";
    write_output_file(path, text);
    return refusal(path.string());
  };
  const std::string rest =
      R"("name": "n", "aliases": [], "source": "s", "config": {"model_type": "gpt2", "n_layer": 12})";
  CHECK(written("{\"format\": \"plumbline.network/1\", " + rest + "}") == "accepted");
  CHECK_THAT(written("{\"format\": \"plumbline.network/9\", " + rest + "}"), ContainsSubstring("plumbline.network/1"));
  CHECK_THAT(written("{\"format\": \"plumbline.network/1\", \"alias\": [], " + rest + "}"),
             ContainsSubstring("net.json:/alias: unknown key; nearest: aliases"));
  CHECK_THAT(written(R"({"format": "plumbline.network/1", "name": "n"})"),
             ContainsSubstring("key \"config\" is missing"));
  CHECK_THAT(written(R"({"format": "plumbline.network/1", "name": "n", "aliases": [], "source": "s",
                         "config": {"model_type": "gpt2", "n_embd": 0}})"),
             ContainsSubstring("net.json:/config/n_embd"));
}

}  // namespace plumbline::network_catalog_test
