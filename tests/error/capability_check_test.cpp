// What plan run refuses of a network before any work, with the words it says.
#include "runtime/run/capability_check.h"

#include "models/import/hugging_face.h"
#include "tests/execution_checks.h"

namespace plumbline::capability_check_test {
namespace {

using Catch::Matchers::ContainsSubstring;

/// What is said of a network under a strategy, or "executed".
std::string refusal(const Graph& graph, const OperatorConstants& constants = {}, const Strategy& strategy = single()) {
  const LoweredPlan plan(graph, strategy, recipe());
  TrainingJob job = plan.job();
  job.constants = constants;
  try {
    check_capability(job, options());
  } catch (const InputError& error) {
    return error.what();
  }
  return "executed";
}

/// The same of a config.json, whose sizes are `sizes` and what else is `more`.
std::string refusal_of(const std::string& type, const std::string& sizes, const std::string& more = "") {
  const Json json = parse_json("{\"model_type\": \"" + type + "\", " + sizes + (more.empty() ? "" : ", ") + more + "}",
                               "config.json");
  const Network network = import_hugging_face(JsonPlace(json, "config.json"), "tiny");
  return refusal(network.graph, network.constants);
}

const std::string gpt2_sizes = R"("n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 32, "vocab_size": 64)";
const std::string sizes =
    R"("hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
       "vocab_size": 64)";

TransformerDescription small() {
  TransformerDescription d;
  d.vocabulary = 64;
  d.hidden = d.embedding_width = 32;
  AttentionDescription& a = d.layer.attention;
  a.heads = a.kv_heads = 4;
  a.qk_head_dim = a.v_head_dim = 8;
  a.rotary = true;
  d.layer.mlp = {64, true, Bias::no, false};
  d.layers.resize(2);
  return d;
}

}  // namespace

TEST_CASE("Decoder language models are executed, with scaled or partial rotary positions and either GELU") {
  CHECK(refusal_of("gpt2", gpt2_sizes) == "executed");
  CHECK(refusal_of("gpt2", gpt2_sizes, R"("activation_function": "gelu")") == "executed");
  CHECK(refusal_of("llama", sizes) == "executed");
  CHECK(refusal_of("llama", sizes, R"("rope_scaling": {"type": "linear", "factor": 2.0})") == "executed");
  CHECK(refusal_of("gpt_neox", sizes) == "executed");
  CHECK(refusal_of("opt", R"("hidden_size": 32, "ffn_dim": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
                             "vocab_size": 64, "word_embed_proj_dim": 32)") == "executed");
  CHECK(refusal_of("qwen3", sizes, R"("num_key_value_heads": 4, "head_dim": 8)") == "executed");
  CHECK(refusal_of("mixtral", sizes, R"("num_key_value_heads": 4)") == "executed");
}

TEST_CASE("What a config asks for beyond its operators is refused with its place") {
  CHECK(
      refusal_of("llama", sizes, R"("rope_scaling": {"rope_type": "yarn", "factor": 4.0})") ==
      "config.json:/rope_scaling: rotary scaling of type \"yarn\" is not executed; expected default, linear or llama3");
  CHECK(refusal_of("gpt2", gpt2_sizes, R"("activation_function": "quick_gelu")") ==
        "config.json:/activation_function: the activation quick_gelu is not executed; expected gelu, gelu_new, "
        "gelu_fast, gelu_pytorch_tanh or relu");
  CHECK_THAT(refusal_of("llama", sizes, R"("embedding_multiplier": 12.0)"),
             ContainsSubstring("config.json:/embedding_multiplier: a multiplier of embeddings is not executed"));
  CHECK_THAT(refusal_of("llama", sizes, R"("final_logit_softcapping": 30.0)"),
             ContainsSubstring("a soft cap of logits"));
  CHECK_THAT(refusal_of("bloom", R"("n_embed": 32, "n_layer": 2, "n_head": 4, "vocab_size": 64)"),
             ContainsSubstring("config.json:/model_type: bloom (ALiBi) is not executed"));
  CHECK_THAT(refusal_of("gemma2", sizes, R"("num_key_value_heads": 4, "head_dim": 8)"),
             ContainsSubstring("norms by 1 + weight"));
  CHECK_THAT(refusal_of("t5", R"("d_model": 32, "d_ff": 64, "num_layers": 2, "num_heads": 4, "d_kv": 8,
                                 "vocab_size": 64)"),
             ContainsSubstring("t5 is not executed; expected a decoder language model"));
}

TEST_CASE("Operators that would run as something else are refused with their names") {
  TransformerDescription d = small();
  const auto words = [&] { return refusal(language_model("tiny", d)); };
  REQUIRE(words() == "executed");
  SECTION("attention sinks") {
    d.layer.attention.sinks = true;
    CHECK(words() ==
          "tiny: attention with parameters of its own (operator attention.core of block layer) is not executed; "
          "expected attention without sinks and biases");
  }
  SECTION("relative biases") {
    d.layer.attention.relative_bias_buckets = 8;
    CHECK_THAT(words(), ContainsSubstring("attention with parameters of its own"));
  }
  SECTION("attention to later tokens") {
    d.layer.attention.causal = false;
    CHECK_THAT(words(), ContainsSubstring("attention to later tokens"));
  }
  SECTION("latent attention") {
    d.layer.attention.latent = LatentAttention{0, 16, 4, 4};
    CHECK_THAT(words(), ContainsSubstring("a select (operator attention.k_rope_heads of block layer) is not executed"));
  }
  SECTION("a gate of one feature") {
    d.layer.mixture = MixtureDescription{8, 2, 16, 16, true, Bias::no};
    d.layers[1].mixture = true;
    CHECK_THAT(words(), ContainsSubstring("a gate of one feature for all"));
  }
  SECTION("biases of experts") {
    d.layer.mixture = MixtureDescription{8, 2, 16, 0, false, Bias::yes};
    d.layers[1].mixture = true;
    CHECK_THAT(words(), ContainsSubstring("a bias of experts"));
  }
  SECTION("a pooler") {
    d.pooler = true;
    CHECK_THAT(words(), ContainsSubstring("a select (operator pooler.first_token of block output)"));
  }
  SECTION("more tokens than positions") {
    d.learned_positions = 12;
    CHECK_THAT(words(),
               ContainsSubstring("16 tokens in a row with 12 learned positions (operator positions of block input)"));
  }
}

TEST_CASE("Every optimizer of the table is executed, checkpoints in host memory are refused before any work") {
  for (const OptimizerFacts& row : optimizer_table) {
    const LoweredPlan executed(language_model("tiny", small()), single(), recipe(row.optimizer));
    CHECK_NOTHROW(check_capability(executed.job(), options()));
  }
  LoweredPlan plan(language_model("tiny", small()), single(), recipe());
  CHECK_NOTHROW(check_capability(plan.job(), options()));
  plan.program.ranks.front().actions.front().what = HostCopy{};
  CHECK_THROWS_WITH(check_capability(plan.job(), options()),
                    ContainsSubstring("checkpoints and optimizer states in host memory are not executed"));
}

TEST_CASE("Half a pair of rotated features is refused, a window with and without flash attention is executed") {
  TransformerDescription d = small();
  OperatorConstants constants;
  constants.rotary.rotated = 0.625;  // 5 of 8
  CHECK(refusal(language_model("tiny", d), constants) ==
        "tiny: a rotation of 5 of a head's 8 features (operator attention.q_rotary of block layer) is not executed; "
        "expected pairs of features");
  for (LayerVariant& layer : d.layers) layer.window = 4;
  CHECK(refusal(language_model("tiny", d)) == "executed");
  Strategy unfused = single();
  unfused.flash_attention = FlashAttention::off;
  CHECK(refusal(language_model("tiny", d), {}, unfused) == "executed");
}

namespace {

/// What is said of a plan once its strategy and recipe are changed to what cannot be lowered, or is not executed.
std::string refusal_of_plan(Net net, void (*change)(Strategy&, Training&),
                            ExpertRouting routing = ExpertRouting::learned) {
  LoweredPlan plan(network(net), single(), recipe_of(net));
  change(plan.strategy, plan.training);
  try {
    check_capability(routed(plan, routing), options());
  } catch (const InputError& error) {
    return error.what();
  }
  return "executed";
}

}  // namespace

TEST_CASE("What of a plan is not executed is refused by one sentence") {
  const auto v_shaped = [](Strategy& s, Training&) {
    s.pipeline_stages = s.virtual_stages = s.data_parallel = s.shard_group = 2;
    s.schedule = Schedule::zbv;
    s.zero_stage = 3;
  };
  CHECK(refusal_of_plan(Net::gpt, v_shaped) ==
        "--plan: a tied embedding with ZeRO-3 and its head on one rank of a V-shaped schedule is not executed; "
        "expected ZeRO-0 or ZeRO-1, one pipeline stage, or a pipeline whose ends are two ranks");
  CHECK(refusal_of_plan(Net::llama, v_shaped) == "executed");
  CHECK(refusal_of_plan(Net::gpt, [](Strategy& s, Training&) {
          s.recompute = {RecomputeMode::offloaded, 2};
        }) == "executed");
  CHECK(refusal_of_plan(Net::gpt, [](Strategy&, Training& t) { t.precision = PrecisionRecipe::nvfp4; }) ==
        "--plan: products in nvfp4 are not executed; expected fp32, tf32, bf16, fp16, fp8 or fp8-row");
  CHECK(refusal_of_plan(Net::gpt, [](Strategy& s, Training&) { s.data_parallel = 2048; }) ==
        "--plan: it has 2048 ranks; expected at most 1024");
}

TEST_CASE("Experts are executed with every optimizer and divided by any ranks, but not in fp8") {
  for (const OptimizerFacts& row : optimizer_table) {
    LoweredPlan plan(network(Net::moe), single(), recipe_of(Net::moe));
    plan.training.optimizer = row.optimizer;
    CHECK_NOTHROW(check_capability(plan.job(), options()));
  }
  CHECK(refusal_of_plan(Net::moe, [](Strategy& s, Training&) {
          s.tensor_parallel = s.expert_tensor_parallel = 2;
          s.sequence_parallel = SequenceParallel::on;
        }) == "executed");
  CHECK(refusal_of_plan(Net::moe, [](Strategy& s, Training&) { s.tensor_parallel = 2; }) ==
        "--plan: experts and tensor parallelism without sequence parallelism are not executed; expected sequence "
        "parallelism");
  CHECK(refusal_of_plan(Net::moe, [](Strategy&, Training& t) { t.precision = PrecisionRecipe::fp8; }) ==
        "--plan: experts in fp8 are not executed; expected fp32, tf32, bf16 or fp16");
  CHECK(refusal_of_plan(
            Net::moe, [](Strategy&, Training& t) { t.sequence_length = 18; }, ExpertRouting::balanced) ==
        "--plan: a rank's tokens cannot be dealt out to 8 experts equally; expected longer sequences or micro-batches, "
        "or learned routing");
}

}  // namespace plumbline::capability_check_test
