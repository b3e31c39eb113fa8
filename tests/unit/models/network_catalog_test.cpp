#include <filesystem>

#include "models/network_catalog.h"

#include "core/graph/parameter_count.h"
#include "core/io/json.h"
#include "core/io/output_file.h"
#include "core/plan/legality.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"

namespace plumbline {

TEST_CASE("The catalogue has the names that others script against") {
  const std::vector<std::string> names = network_names();
  CHECK(names.size() >= 60);
  CHECK(std::is_sorted(names.begin(), names.end()));
  for (const std::string name : {"gpt2", "gpt3-175b", "llama-3-8b", "llama-3-70b", "llama-3.1-405b", "mixtral-8x7b",
                                 "deepseek-v3", "llama-2-7b", "resnet-50"})
    CHECK(std::find(names.begin(), names.end(), name) != names.end());
}

TEST_CASE("Every network of the catalogue is built, carries its name and its source") {
  for (const std::string& name : network_names()) {
    INFO(name);
    const Network network = find_network(name);
    CHECK(network.name == name);
    CHECK(network.graph.name() == name);
    CHECK_FALSE(network.source.empty());
    CHECK(network.default_sequence_length > 0);
    CHECK(network.published_parameters.has_value() == !network.published_source.empty());
  }
}

TEST_CASE(
    "The networks to train without a GPU have the parameters that their shapes give, and degrees of 4 everywhere") {
  // Per layer of nano-gpt: 12 x 256^2 weights and 13 x 256 biases and norms; tokens and positions of 256 x 256 each.
  CHECK(parameter_count(find_network("nano-gpt").graph) == 2 * 256 * 256 + 12 * (12 * 256 * 256 + 13 * 256) + 2 * 256);
  // nano-llama: q and o 256 x 256, k and v 256 x 128, three of 256 x 512, two norms; input, output, last norm.
  CHECK(parameter_count(find_network("nano-llama").graph) ==
        2 * 256 * 256 + 12 * (2 * 256 * 256 + 2 * 256 * 128 + 3 * 256 * 512 + 2 * 256) + 256);
  // nano-moe: the same attention, 8 experts of 3 x 256 x 256, a router of 256 x 8.
  CHECK(parameter_count(find_network("nano-moe").graph) ==
        2 * 256 * 256 + 12 * (2 * 256 * 256 + 2 * 256 * 128 + 8 * 3 * 256 * 256 + 256 * 8 + 2 * 256) + 256);
  for (const std::string name : {"nano-gpt", "nano-llama", "nano-moe"}) {
    const Divisibility facts = divisibility(find_network(name).graph);
    CHECK(facts.layers == 12);
    for (const auto* counts : {&facts.heads, &facts.kv_heads, &facts.widths, &facts.experts, &facts.expert_widths})
      for (const std::int64_t count : *counts) CHECK(count % 4 == 0);
  }
}

TEST_CASE("Case, hub organisation and separators do not matter") {
  for (const std::string name : {"llama3-70b", "meta-llama/Meta-Llama-3-70B", "LLAMA_3_70B", "Meta-Llama-3-70B",
                                 "meta-llama/Meta-Llama-3-70B-Instruct", "llama 3 70b"})
    CHECK(find_network(name).name == "llama-3-70b");
  CHECK(find_network("openai/gpt3-175b").name == "gpt3-175b");
  CHECK(find_network("vit-b/16").name == "vit-base-patch16-224");
  CHECK(find_network("bigscience/bloom").name == "bloom-176b");
}

TEST_CASE("Every alias leads to the network that lists it") {
  for (const auto& [alias, name] : network_aliases()) CHECK(find_network(alias).name == name);
}

TEST_CASE("A config.json, its folder and a file of our own format are networks too") {
  const TemporaryFolder folder;
  const std::filesystem::path net = folder.path() / "my-net";
  std::filesystem::create_directory(net);
  write_output_file(net / "config.json", R"({"model_type": "gpt2", "n_layer": 12})");
  const Network by_folder = find_network(net.string());
  CHECK(by_folder.name == "my-net");
  CHECK(parameter_count(by_folder.graph) == 124'439'808);
  CHECK(find_network((net / "config.json").string()).name == "my-net");
  write_output_file(folder.path() / "own.json", R"({"format": "plumbline.network/1", "name": "own", "aliases": [],
    "source": "a paper", "published_parameters": 124439808, "published_source": "its table",
    "config": {"model_type": "gpt2", "n_layer": 12}})");
  const Network own = find_network((folder.path() / "own.json").string());
  CHECK(own.name == "own");
  CHECK(own.published_parameters == 124'439'808);
}

TEST_CASE("A path is a path, whatever its last part is called") {
  const TemporaryFolder folder;
  const std::filesystem::path net = folder.path() / "my" / "llama-3-8b";
  std::filesystem::create_directories(net);
  write_output_file(net / "config.json", R"({"model_type": "gpt2", "n_layer": 12})");
  write_output_file(folder.path() / "my" / "gpt2", R"({"model_type": "gpt2", "n_layer": 3})");
  CHECK(parameter_count(find_network(net.string()).graph) == 124'439'808);
  CHECK(find_network((folder.path() / "my" / "gpt2").string()).graph.layer_count() == 3);
  CHECK(network_name_warning("gpt2").empty());
  CHECK(network_name_warning("meta-llama/Meta-Llama-3-70B").empty());
}

}  // namespace plumbline
