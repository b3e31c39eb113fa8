// Configs of types that are unknown, read as a type that is, and files to start a network from.

#include <filesystem>

#include "models/network_config.h"

#include "core/base/errors.h"
#include "core/graph/parameter_count.h"
#include "core/io/output_file.h"
#include "models/network_catalog.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"

namespace plumbline {
namespace {

using Catch::Matchers::ContainsSubstring;

/// llama-2-7b's shape under a name of its own.
constexpr std::string_view house = R"({"model_type": "house", "architectures": ["HouseForCausalLM"],
  "hidden_size": 4096, "intermediate_size": 11008, "num_hidden_layers": 32, "num_attention_heads": 32,
  "vocab_size": 32000})";

TEST_CASE("a config of an unknown type is read as the type that is asked for") {
  const TemporaryFolder folder;
  const std::string path = (folder / "config.json").string();
  write_output_file(path, house);
  const NetworkReadAs read = find_network_as(path, "llama");
  CHECK(read.network.model_type == "llama");
  CHECK(parameter_count(read.network.graph) == parameter_count(find_network("llama-2-7b").graph));
  CHECK_THAT(read.network.source, ContainsSubstring("read as llama"));
  CHECK(parameter_count(find_network_as(folder.path().string(), "llama").network.graph) ==
        parameter_count(read.network.graph));
}

TEST_CASE("what is written of it is a network file that reads back") {
  const TemporaryFolder folder;
  write_output_file(folder / "config.json", house);
  const std::string path = (folder / "config.json").string();
  const NetworkReadAs read = find_network_as(path, "llama");
  const std::filesystem::path file = folder / "mine.json";
  write_output_file(file, network_file_text(path, "llama"));
  const Network again = find_network(file.string());
  CHECK(parameter_count(again.graph) == parameter_count(read.network.graph));
  CHECK(again.source == read.network.source);
}

TEST_CASE("a network of the catalogue is written as a file that reads back") {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder / "mine.json";
  for (const char* name : {"gpt2", "mixtral-8x7b", "resnet-50", "t5-small"}) {
    const Network network = find_network(name);
    write_output_file(file, network_file_text(name, std::nullopt));
    const Network again = find_network(file.string());
    CHECK(again.name == network.name);
    CHECK(parameter_count(again.graph) == parameter_count(network.graph));
    CHECK(again.published_parameters == network.published_parameters);
  }
}

TEST_CASE("a file with the name of a network that ships keeps its own config, and the name the one that ships") {
  const TemporaryFolder folder;
  const std::string path = (folder / "gpt2.json").string();
  std::string config = network_config(find_network("gpt2"), "gpt2");
  CHECK_THAT(config, !ContainsSubstring("attn_pdrop"));
  config.insert(config.rfind('}'), R"(, "attn_pdrop": 0.0)");
  write_output_file(path, config);
  CHECK_THAT(network_config(find_network(path), path), ContainsSubstring("attn_pdrop"));
  for (const char* name : {"gpt2", "openai-community/gpt2"})
    CHECK_THAT(network_config(find_network(name), name), !ContainsSubstring("attn_pdrop"));
}

TEST_CASE("a type that is not understood, and a name of the catalogue, are refused") {
  CHECK_THROWS_WITH(find_network_as("./config.json", "lama"), ContainsSubstring("nearest: llama"));
  CHECK_THROWS_WITH(find_network_as("gpt2", "llama"), ContainsSubstring("is in the catalogue"));
  CHECK_THROWS_WITH(find_network_as("./no/such/config.json", "llama"), ContainsSubstring("no such file"));
}

}  // namespace
}  // namespace plumbline
