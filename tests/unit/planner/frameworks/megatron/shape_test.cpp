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

// transformer_config.py, window_size: (left, right) next to a query's own position; Hugging Face counts that one too.
TEST_CASE("a window of attention in every layer is written and read back") {
  const ShapeFlags written = shape_flags(parse_json(network_config(find_network("mistral-7b"), "x"), "x"), 1);
  CHECK(written.unsaid.empty());
  CHECK(*Json(written.flags).find("--window-size")->if_string() == "4095,0");
  CHECK(*shape_config(Json(written.flags), 1).config.find("sliding_window")->if_integer() == 4096);
  const ShapeFlags qwen = shape_flags(
      parse_json(R"({"model_type": "qwen2", "sliding_window": 131072, "use_sliding_window": false})", "x"), 1);
  CHECK(qwen.unsaid.empty());
  CHECK(Json(qwen.flags).find("--window-size") == nullptr);
}

TEST_CASE("a window that no config can say is told, and one that is none refused") {
  const std::string llama = "--num-layers 2 --hidden-size 64 --num-attention-heads 4 --swiglu --disable-bias-linear ";
  const auto read = [&](const std::string& more) { return shape_config(read_arguments(llama + more, "x"), 1); };
  CHECK(*read("--window-size '(127,0)'").config.find("sliding_window")->if_integer() == 128);
  CHECK(read("--window-size 127,0").notes.size() == read("").notes.size());
  for (const char* const more :
       {"--window-size -1,-1", "--window-size 127,0 --window-attn-skip-freq 2", "--window-size 127,0 --qk-layernorm"}) {
    const ShapeConfig shape = read(more);
    INFO(more);
    CHECK(shape.config.find("sliding_window") == nullptr);
    CHECK(shape.notes.back().find("--window-size is not priced") == 0);
  }
  for (const char* const more : {"--window-size 128", "--window-size a,b", "--window-size 1,2,3"})
    CHECK_THROWS_AS(read(more), InputError);
}

TEST_CASE("which layers are mixtures is a number or a Python expression") {
  using Mixture = std::vector<bool>;
  CHECK(mixture_layers(2, 5) == Mixture{true, false, true, false, true});
  CHECK(mixture_layers("([0]*3+[1]*2)", 5) == Mixture{false, false, false, true, true});
  CHECK(mixture_layers("[1, 0]*2+[1]", 5) == Mixture{true, false, true, false, true});
  for (const char* const text : {"[0]*3", "[2]*5", "([0]*5", "[0]*99999999999", "((((((((((((((((((([0]*5"})
    CHECK_THROWS_AS(mixture_layers(text, 5), InputError);
}

}  // namespace
}  // namespace plumbline::megatron
