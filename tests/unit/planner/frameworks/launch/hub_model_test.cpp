// Names of the hub, and networks that a script over AutoModelForCausalLM does not make.

#include "planner/frameworks/launch/hub_model.h"

#include "planner/frameworks/launch/launch_target.h"
#include "tests/catch.h"
#include "tests/launch_round_trip.h"

namespace plumbline {
namespace {

using Catch::Matchers::ContainsSubstring;

LaunchSettings of_model(const std::string& model) {
  LaunchSettings settings = settings_for(Strategy{}, Training{});
  settings.model = model;
  return settings;
}

std::string written_by(const LaunchTarget& target, const LaunchSettings& settings) {
  std::string all;
  for (const LaunchFile& file : target.write(settings, target.releases.back()).files) all += file.text;
  return all;
}

TEST_CASE("scripts name a network as the hub does") {
  CHECK(hub_name(of_model("llama-3.1-8b")) == "meta-llama/Llama-3.1-8B");
  CHECK(hub_name(of_model("meta-llama/Llama-3.1-8B")) == "meta-llama/Llama-3.1-8B");
  CHECK(missing_hub_name(of_model("llama-3.1-8b")).empty());
  for (const LaunchTarget& target : {deepspeed_target(), accelerate_target(), lightning_target()})
    CHECK_THAT(written_by(target, of_model("llama-3.1-8b")),
               ContainsSubstring("meta-llama/Llama-3.1-8B") && !ContainsSubstring("llama-3.1-8b\n"));
}

TEST_CASE("a network that no hub has is to be filled in") {
  for (const char* const model : {"gpt3-175b", "networks/own.json", "graph.onnx"}) {
    CHECK(hub_name(of_model(model)) == model);
    CHECK_THAT(missing_hub_name(of_model(model)), ContainsSubstring("is no name of the Hugging Face Hub"));
  }
}

TEST_CASE("a network for another task is not said by a script for language models") {
  for (const char* const model : {"bert-base", "resnet-50", "graph.onnx"})
    for (const LaunchTarget& target : {deepspeed_target(), accelerate_target(), lightning_target()}) {
      LaunchSettings settings = of_model(model);
      settings.gradient_format = NumberFormat::fp32;  // as replicated ones are
      const LaunchFiles files = target.write(settings, target.releases.back());
      REQUIRE(files.unsaid.size() == 1);
      CHECK_THAT(files.unsaid.front(), ContainsSubstring("AutoModelForCausalLM"));
    }
  CHECK(unsaid_of_model(of_model("gpt2")).empty());
}

TEST_CASE("formats that a target has no key for are said") {
  Training training;
  training.gradient_format = NumberFormat::fp32;
  training.optimizer_format = NumberFormat::bf16;
  Strategy sharded;
  sharded.data_parallel = 2;
  sharded.zero_stage = 3;
  sharded.shard_group = 2;
  const LaunchSettings settings = settings_for(sharded, training);
  for (const LaunchTarget& target : {accelerate_target(), lightning_target()})
    CHECK(target.write(settings, target.releases.back()).unsaid.size() == 2);
  CHECK(deepspeed_target().write(settings, "0.19.8").unsaid ==
        std::vector<std::string>{"moments in bf16: no key of DeepSpeed says it; they are in fp32"});
}

// torch.autocast leaves parameters in 32 bits, and DistributedDataParallel reduces gradients of their format.
TEST_CASE("replicated gradients are in 32 bits, sharded ones in the format of the precision") {
  Training training;
  training.gradient_format = NumberFormat::fp32;
  for (const LaunchTarget& target : {accelerate_target(), lightning_target()})
    CHECK(target.write(settings_for(Strategy{}, training), target.releases.back()).unsaid.empty());
  training.gradient_format = NumberFormat::bf16;
  CHECK(
      accelerate_target().write(settings_for(Strategy{}, training), "1.15.0").unsaid ==
      std::vector<std::string>{"gradients in bf16: no key of Accelerate says it; they are in fp32, as parameters are"});
  CHECK(lightning_target().write(settings_for(Strategy{}, training), "2.6.6").unsaid ==
        std::vector<std::string>{
            "gradients in bf16: no argument of Lightning says it; they are in fp32, as parameters are"});
}

}  // namespace
}  // namespace plumbline
