// Networks as flags of Megatron-LM, there and back: the same number of parameters.

#include "planner/frameworks/megatron/shape.h"

#include "core/base/errors.h"
#include "core/graph/parameter_count.h"
#include "models/import/hugging_face.h"
#include "models/network_catalog.h"
#include "models/network_config.h"
#include "planner/frameworks/syntax/arguments.h"
#include "tests/catch.h"

namespace plumbline::megatron {
namespace {

std::int64_t parameters(const Network& network) { return parameter_count(network.graph); }

void check_same_parameters(const char* name) {
  INFO(name);
  const Network network = find_network(name);
  const Json config = parse_json(network_config(network, name), name);
  const ShapeFlags written = shape_flags(config, 2);
  const Json flags = read_arguments(arguments_text(Json(written.flags)), name);
  const ShapeConfig back = shape_config(flags, 2);
  INFO(to_json_text(back.config));
  CHECK(parameters(import_hugging_face(JsonPlace(back.config, name), name)) == parameters(network));
}

TEST_CASE("a network that was written as flags is read back with as many parameters") {
  for (const char* const name :
       {"llama-3-8b", "llama-2-70b", "mistral-7b", "qwen2.5-7b", "qwen2.5-0.5b", "qwen3-8b", "qwen3-0.6b", "gpt3-175b",
        "mixtral-8x7b", "qwen3-30b-a3b", "deepseek-v2-lite", "deepseek-v3", "deepseek-v3-mtp", "glm-4.5-air"})
    check_same_parameters(name);
}

TEST_CASE("an architecture without flags is said") {
  const ShapeFlags none = shape_flags(parse_json(R"({"model_type": "bert"})", "x"), 1);
  CHECK(none.flags.empty());
  CHECK(none.unsaid.size() == 1);
}

// arguments.py: without --ffn-hidden-size 4 h, with --swiglu two thirds of that in whole 64s: 4096 * 8 / 3 = 10922.67,
// 170 * 64 = 10880. A vocabulary of 32000 with 3 tensor-parallel ranks is padded to a multiple of 384: 32256.
TEST_CASE("defaults of the framework are taken where flags are absent") {
  const Json flags = read_arguments(
      "--num-layers 2 --hidden-size 4096 --num-attention-heads 32 --swiglu --normalization RMSNorm --vocab-size 32000 "
      "--position-embedding-type rope --disable-bias-linear",
      "x");
  const ShapeConfig shape = shape_config(flags, 3);
  CHECK(*shape.config.find("intermediate_size")->if_integer() == 10880);
  CHECK(*shape.config.find("vocab_size")->if_integer() == 32256);
  CHECK(*shape.config.find("tie_word_embeddings")->if_bool());
  CHECK(shape.notes.empty());
  CHECK(shape_config(read_arguments("--num-layers 2", "x"), 1).config.is_null());
}

TEST_CASE("which layers are mixtures is a number or a Python expression") {
  using Layers = std::vector<bool>;
  CHECK(mixture_layers(2, 5) == Layers{true, false, true, false, true});
  CHECK(mixture_layers("([0]*3+[1]*2)", 5) == Layers{false, false, false, true, true});
  CHECK(mixture_layers("[1, 0]*2+[1]", 5) == Layers{true, false, true, false, true});
  for (const char* const text : {"[0]*3", "[2]*5", "([0]*5", "[0]*99999999999", "((((((((((((((((((([0]*5"})
    CHECK_THROWS_AS(mixture_layers(text, 5), InputError);
}

}  // namespace
}  // namespace plumbline::megatron
