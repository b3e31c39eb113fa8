// Names, shapes and places of published tensors, worked by hand from the classes of transformers.
#include "models/published_tensors.h"

#include <algorithm>

#include "tests/catch.h"

namespace plumbline {
namespace {

const PublishedTensor& tensor(const PublishedNetwork& network, std::string_view name) {
  const auto found =
      std::find_if(network.tensors.begin(), network.tensors.end(), [&](const auto& each) { return each.name == name; });
  REQUIRE(found != network.tensors.end());
  return *found;
}

/// The element of the tensor at which element (row, column) of a part is.
std::int64_t place(const TensorPart& part, std::int64_t row, std::int64_t column) {
  return part.row_begin(row) + column * part.column_stride;
}

WholeParameter matrix(std::string name, std::int64_t rows, std::int64_t columns, std::int64_t heads = 0) {
  return {std::move(name), {1, rows, columns}, 2, heads};
}
WholeParameter vector(std::string name, std::int64_t size, std::int64_t heads = 0) {
  return {std::move(name), {1, 1, size}, 1, heads};
}

TEST_CASE("Llama's tensors are its parameters") {
  const PublishedNetwork network = published_network(
      "llama", {matrix("input.embedding.weight", 256, 8), matrix("layers.3.attention.qkv.k.weight", 4, 8),
                vector("layers.3.mlp.norm.weight", 8), matrix("output.head.weight", 256, 8)});
  CHECK(network.has_published_names);
  CHECK(network.tensors.size() == 4);
  CHECK(tensor(network, "model.embed_tokens.weight").shape == std::vector<std::int64_t>{256, 8});
  CHECK(place(tensor(network, "model.layers.3.self_attn.k_proj.weight").parts.front(), 3, 5) == 29);
  CHECK(tensor(network, "model.layers.3.post_attention_layernorm.weight").shape == std::vector<std::int64_t>{8});
  CHECK(place(tensor(network, "model.layers.3.post_attention_layernorm.weight").parts.front(), 5, 0) == 5);
  CHECK(tensor(network, "lm_head.weight").shape == std::vector<std::int64_t>{256, 8});
}

// Conv1D keeps [inputs, outputs]: with hidden 6, c_attn is 6 x 18, its columns queries, keys, values.
TEST_CASE("GPT-2 keeps queries, keys and values side by side, transposed") {
  std::vector<WholeParameter> parameters;
  for (const char* part : {"q", "k", "v"}) {
    parameters.push_back(matrix("layers.0.attention.qkv." + std::string(part) + ".weight", 6, 6, 2));
    parameters.push_back(vector("layers.0.attention.qkv." + std::string(part) + ".bias", 6, 2));
  }
  parameters.push_back(matrix("layers.0.mlp.up.weight", 24, 6));
  const PublishedNetwork network = published_network("gpt2", parameters);
  REQUIRE(network.has_published_names);
  CHECK(network.tensors.size() == 3);
  const PublishedTensor& weight = tensor(network, "transformer.h.0.attn.c_attn.weight");
  CHECK(weight.shape == std::vector<std::int64_t>{6, 18});
  // Output 4 of the keys from input 5: row 5, column 6 + 4.
  CHECK(place(weight.parts[1], 4, 5) == 5 * 18 + 10);
  const PublishedTensor& bias = tensor(network, "transformer.h.0.attn.c_attn.bias");
  CHECK(bias.shape == std::vector<std::int64_t>{18});
  CHECK(place(bias.parts[2], 3, 0) == 15);
  CHECK(tensor(network, "transformer.h.0.mlp.c_fc.weight").shape == std::vector<std::int64_t>{6, 24});
}

// Two heads of 3: rows 0-2 queries of head 0, 3-5 its keys, 6-8 its values, 9-11 queries of head 1 and so on.
TEST_CASE("GPT-NeoX keeps each head's query, key and value together") {
  std::vector<WholeParameter> parameters;
  for (const char* part : {"q", "k", "v"}) {
    parameters.push_back(matrix("layers.1.attention.qkv." + std::string(part) + ".weight", 6, 6, 2));
    parameters.push_back(vector("layers.1.attention.qkv." + std::string(part) + ".bias", 6, 2));
  }
  const PublishedNetwork network = published_network("gpt_neox", parameters);
  REQUIRE(network.has_published_names);
  const PublishedTensor& weight = tensor(network, "gpt_neox.layers.1.attention.query_key_value.weight");
  CHECK(weight.shape == std::vector<std::int64_t>{18, 6});
  CHECK(place(weight.parts[0], 4, 2) == (9 + 1) * 6 + 2);   // head 1, its second query row
  CHECK(place(weight.parts[1], 2, 0) == (3 + 2) * 6);       // head 0, its third key row
  CHECK(place(weight.parts[2], 5, 1) == (15 + 2) * 6 + 1);  // head 1, its third value row
  CHECK(place(tensor(network, "gpt_neox.layers.1.attention.query_key_value.bias").parts[2], 5, 0) == 17);
}

// Four query heads of 2 read two keys: a group is 4 rows of queries, 2 of the key, 2 of the value.
TEST_CASE("Falcon keeps the queries that read a key alongside it") {
  const PublishedNetwork network = published_network(
      "falcon", {matrix("layers.0.attention.qkv.q.weight", 8, 8, 4), matrix("layers.0.attention.qkv.k.weight", 4, 8, 2),
                 matrix("layers.0.attention.qkv.v.weight", 4, 8, 2)});
  const PublishedTensor& weight = tensor(network, "transformer.h.0.self_attention.query_key_value.weight");
  CHECK(weight.shape == std::vector<std::int64_t>{16, 8});
  CHECK(place(weight.parts[0], 5, 0) == (8 + 1) * 8);
  CHECK(place(weight.parts[1], 1, 0) == (4 + 1) * 8);
  CHECK(place(weight.parts[2], 3, 0) == (8 + 6 + 1) * 8);
}

TEST_CASE("Every expert of Mixtral is a tensor") {
  const PublishedNetwork network =
      published_network("mixtral", {{"layers.0.experts.gate_up.gate.weight", {3, 4, 2}, 3, 0},
                                    {"layers.0.experts.down.weight", {3, 2, 4}, 3, 0},
                                    matrix("layers.0.experts.router.weight", 3, 2)});
  REQUIRE(network.has_published_names);
  CHECK(network.tensors.size() == 7);
  const PublishedTensor& gate = tensor(network, "model.layers.0.block_sparse_moe.experts.2.w1.weight");
  CHECK(gate.shape == std::vector<std::int64_t>{4, 2});
  CHECK(gate.parts.front().expert == 2);
  CHECK(place(gate.parts.front(), 3, 1) == 7);
  CHECK(tensor(network, "model.layers.0.block_sparse_moe.experts.0.w2.weight").shape ==
        std::vector<std::int64_t>{2, 4});
}

TEST_CASE("Adapters have PEFT's names where their linear is a tensor by itself") {
  const PublishedNetwork llama = published_network(
      "llama", {matrix("layers.0.mlp.down.weight", 4, 8), matrix("layers.0.mlp.down.lora_a.weight", 2, 8),
                matrix("layers.0.mlp.down.lora_b.weight", 4, 2)});
  CHECK(llama.has_adapter_names);
  CHECK(tensor(llama, "base_model.model.model.layers.0.mlp.down_proj.lora_A.weight").is_adapter);
  CHECK_FALSE(tensor(llama, "model.layers.0.mlp.down_proj.weight").is_adapter);
  const PublishedNetwork phi = published_network("phi3", {matrix("layers.0.attention.qkv.q.lora_a.weight", 2, 8)});
  CHECK_FALSE(phi.has_adapter_names);
  CHECK(tensor(phi, "layers.0.attention.qkv.q.lora_a.weight").is_adapter);
}

TEST_CASE("A parameter that no rule knows leaves the whole network its own names") {
  const std::vector<WholeParameter> parameters{matrix("input.embedding.weight", 16, 4),
                                               matrix("layers.0.shared_expert.down.weight", 4, 8)};
  for (const char* type : {"llama", "unknown"}) {
    const PublishedNetwork network = published_network(type, parameters);
    CHECK_FALSE(network.has_published_names);
    CHECK(tensor(network, "layers.0.shared_expert.down.weight").shape == std::vector<std::int64_t>{4, 8});
    CHECK(tensor(network, "input.embedding.weight").parts.size() == 1);
  }
}

}  // namespace
}  // namespace plumbline
