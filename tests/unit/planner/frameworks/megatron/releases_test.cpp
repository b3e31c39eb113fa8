// Which release of Megatron-LM has which flag, against the packages that were released.

#include "planner/frameworks/megatron/releases.h"

#include "core/base/errors.h"
#include "planner/session/export/export.h"
#include "tests/catch.h"
#include "tests/questions.h"

namespace plumbline::megatron {
namespace {

Json::Object flag(const char* name, Json value = true) { return {{name, std::move(value)}}; }

std::string first_flag(std::string_view release, Json::Object arguments) {
  return arguments_for(release, std::move(arguments)).front().first;
}

std::string arguments_text_of(const PartialStrategy& strategy, std::string_view release) {
  session::StrategyRequest request;
  request.question = question_text("llama-3-8b", "dgx-h100", 16, 4096, 64);
  request.strategy = strategy;
  return session::export_plan(session::estimate(request), "megatron-lm", release).files.files.front().text;
}

TEST_CASE("FSDP is called custom before Megatron-Core 0.14") {
  for (const char* release : {"core_v0.12.0", "core_v0.13.0"})
    CHECK(first_flag(release, flag("--use-megatron-fsdp")) == "--use-custom-fsdp");
  for (const char* release : {"core_v0.14.0", "core_v0.16.1", "main"})
    CHECK(first_flag(release, flag("--use-megatron-fsdp")) == "--use-megatron-fsdp");
}

// DistributedDataParallelConfig of 0.11 has no use_custom_fsdp, TransformerConfig of 0.12 no pipeline layout and of
// 0.14 no fp4; muon.py is there from 0.16 on.
TEST_CASE("a flag that a release lacks is refused with the first that has it") {
  const auto refused = [](std::string_view release, Json::Object arguments, const char* words) {
    CHECK_THROWS_WITH(arguments_for(release, std::move(arguments)), Catch::Matchers::ContainsSubstring(words));
  };
  refused("core_v0.11.0", flag("--use-megatron-fsdp"), "--release core_v0.12.0 or a later one");
  refused("core_v0.12.0", flag("--pipeline-model-parallel-layout", "Et|tL"), "core_v0.13.0 or a later one");
  refused("core_v0.14.0", flag("--fp4-format", "e2m1"), "core_v0.15.0 or a later one");
  refused("core_v0.15.0", flag("--optimizer", "muon"), "has no --optimizer muon");
  refused("core_v0.11.0", flag("--recompute-modules", "mlp"), "core_v0.11.0 has no --recompute-modules");
  CHECK_NOTHROW(arguments_for("core_v0.10.0", flag("--optimizer", "adam")));
  CHECK_NOTHROW(arguments_for("main", flag("--optimizer", "lion")));
}

// megatron/training/arguments.py of core_v0.19.0 asserts that te is not the implementation; that of core_v0.18.0 does
// not.
TEST_CASE("Transformer Engine's fused loss is refused from 0.19 on, with the last release that took it") {
  const Json::Object fused{{"--cross-entropy-loss-fusion", true}, {"--cross-entropy-fusion-impl", "te"}};
  for (const char* release : {"core_v0.19.0", "main"})
    CHECK_THROWS_WITH(
        arguments_for(release, fused),
        Catch::Matchers::ContainsSubstring(std::string(release) + " refuses --cross-entropy-fusion-impl te") &&
            Catch::Matchers::ContainsSubstring("--loss vocab_parallel_jit, or --release core_v0.18.0"));
  CHECK(arguments_for("core_v0.18.0", fused).size() == 2);
  for (const char* release : {"core_v0.18.0", "core_v0.19.0", "main"})
    CHECK_NOTHROW(arguments_for(release, flag("--cross-entropy-loss-fusion")));
}

// --cuda-graph-impl came with 0.15, its full_iteration and --cuda-graph-modules with 0.18 (arguments.py of the
// releases).
TEST_CASE("graphs are asked for in the spelling of a release, or refused where it has none") {
  const auto text = [](std::string_view release, Json::Object arguments) {
    return to_json_text(Json(arguments_for(release, std::move(arguments))), -1);
  };
  const Json::Object iteration = flag("--cuda-graph-impl", "full_iteration");
  const Json::Object layers = flag("--cuda-graph-impl", "transformer_engine");
  CHECK_THAT(text("main", iteration), Catch::Matchers::ContainsSubstring("full_iteration"));
  CHECK_THAT(
      text("core_v0.16.1", iteration),
      Catch::Matchers::ContainsSubstring(R"("--cuda-graph-impl":"local","--cuda-graph-scope":"full_iteration")"));
  CHECK_THAT(text("core_v0.14.0", iteration),
             Catch::Matchers::ContainsSubstring(R"("--enable-cuda-graph":true,"--cuda-graph-scope":"full_iteration")"));
  CHECK_THAT(text("core_v0.12.0", layers), Catch::Matchers::ContainsSubstring(R"("--external-cuda-graph":true)"));
  CHECK_THAT(text("core_v0.11.0", layers), Catch::Matchers::ContainsSubstring(R"("--enable-cuda-graph":true)"));
  CHECK(arguments_for("core_v0.10.0", flag("--cuda-graph-impl", "none")).empty());
  CHECK(first_flag("core_v0.17.0", flag("--cuda-graph-modules", "attn")) == "--cuda-graph-scope");
  CHECK_THROWS_WITH(arguments_for("core_v0.13.0", iteration),
                    Catch::Matchers::ContainsSubstring("has no --cuda-graph-impl full_iteration"));
  CHECK_THROWS_WITH(arguments_for("core_v0.10.0", layers),
                    Catch::Matchers::ContainsSubstring("core_v0.11.0 or a later"));
  CHECK_THROWS_WITH(arguments_for("core_v0.15.0", flag("--cuda-graph-modules", "attn")),
                    Catch::Matchers::ContainsSubstring("core_v0.16.1 or a later"));
}

// 32 layers on 4 stages of 2 virtual stages each: 4 layers of a virtual stage.
TEST_CASE("releases before 0.13 are given the layers of a virtual stage") {
  PartialStrategy interleaved;
  interleaved.strategy.pipeline_stages = 4;
  interleaved.strategy.virtual_stages = 2;
  interleaved.strategy.zero_stage = 1;
  const std::string old = arguments_text_of(interleaved, "core_v0.12.0");
  CHECK_THAT(old, Catch::Matchers::ContainsSubstring("--num-layers-per-virtual-pipeline-stage 4"));
  CHECK_THAT(old, !Catch::Matchers::ContainsSubstring("--num-virtual-stages-per-pipeline-rank"));
  CHECK_THAT(arguments_text_of(interleaved, "main"),
             Catch::Matchers::ContainsSubstring("--num-virtual-stages-per-pipeline-rank 2"));
}

TEST_CASE("what is written for an old release is read back as the same strategy") {
  PartialStrategy sharded;
  sharded.strategy.tensor_parallel = 2;
  sharded.strategy.zero_stage = 3;
  const Imported imported = megatron_lm_target().read(arguments_text_of(sharded, "core_v0.13.0"), "arguments.txt");
  CHECK(imported.settings.zero_stage == 3);
  CHECK(imported.settings.tensor_parallel == 2);
  CHECK(imported.notes.unread.empty());
}

}  // namespace
}  // namespace plumbline::megatron
