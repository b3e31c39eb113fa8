// Lightning's strategy lines in both directions.

#include "planner/frameworks/launch/launch_target.h"

#include "core/base/errors.h"
#include "tests/catch.h"
#include "tests/launch_round_trip.h"

namespace plumbline {
namespace {

using Catch::Matchers::ContainsSubstring;

std::string script_of(const Strategy& strategy, const Training& training = {}) {
  return lightning_target().write(settings_for(strategy, training), "2.6.6").files.front().text;
}

Imported imported(std::string_view text) { return lightning_target().read(text, "train.py"); }

TEST_CASE("each kind of sharding is a strategy of the Trainer") {
  Strategy s;
  s.data_parallel = 8;
  s.micro_batches = 4;
  CHECK_THAT(script_of(s), ContainsSubstring("strategy = DDPStrategy(\n)") &&
                               ContainsSubstring("accumulate_grad_batches=4") && ContainsSubstring("devices=8"));
  s.zero_stage = 1;
  s.shard_group = 8;
  CHECK_THAT(script_of(s), ContainsSubstring("strategy = DeepSpeedStrategy(\n    stage=1,\n)"));
  s.zero_stage = 2;
  CHECK_THAT(script_of(s), ContainsSubstring("sharding_strategy=\"SHARD_GRAD_OP\""));
  s.zero_stage = 3;
  s.shard_group = 4;
  s.recompute = Recompute{RecomputeMode::full};
  CHECK_THAT(script_of(s), ContainsSubstring("sharding_strategy=\"HYBRID_SHARD\",\n    device_mesh=(2, 4)") &&
                               ContainsSubstring("activation_checkpointing_policy={Block}") &&
                               ContainsSubstring("recompute=False"));
  s.shard_group = 8;
  s.tensor_parallel = 2;
  CHECK_THAT(script_of(s), ContainsSubstring("data_parallel_size=8,\n    tensor_parallel_size=2") &&
                               ContainsSubstring("reshard_after_forward=True") && ContainsSubstring("recompute=True"));
}

TEST_CASE("a Trainer keeps 32-bit gradients where nothing is sharded") {
  const auto gradients = [](const std::string& arguments) {
    return imported("Trainer(" + arguments + ")").settings.gradient_format;
  };
  CHECK(gradients("strategy='ddp', precision='16-mixed'") == NumberFormat::fp32);
  CHECK(gradients("strategy='ddp', precision='bf16-mixed'") == NumberFormat::fp32);
  CHECK_FALSE(gradients("strategy='ddp', precision='bf16-true'"));
  CHECK_FALSE(gradients("strategy='ddp', precision='32-true'"));
  CHECK_FALSE(gradients("strategy='fsdp', precision='bf16-mixed'"));
  CHECK_FALSE(gradients("strategy='deepspeed_stage_2', precision='16-mixed'"));
}

TEST_CASE("scripts of others say what their calls say") {
  const Imported found = imported(
      "trainer = Trainer(accelerator='gpu', devices=4, num_nodes=2, strategy='deepspeed_stage_3', precision=16,\n"
      "    accumulate_grad_batches=2, max_steps=1000, logger=False)\nloader = DataLoader(data, batch_size=3, "
      "shuffle=True)\n");
  CHECK(found.settings.zero_stage == 3);
  CHECK(found.settings.devices_per_node == 4);
  CHECK(found.settings.nodes == 2);
  CHECK(found.settings.precision == PrecisionRecipe::fp16);
  CHECK(found.settings.micro_batch == 3);
  CHECK(found.settings.micro_batches == 2);
  CHECK(found.settings.recipe.steps == 1000);
  CHECK(found.notes.unread.empty());
  CHECK(imported("Trainer(strategy=FSDPStrategy(cpu_offload=True))").notes.unread ==
        std::vector<std::string>{"FSDPStrategy.cpu_offload changes memory and time and is not modelled"});
  CHECK(imported("Trainer(strategy=FSDPStrategy())").settings.zero_stage == 3);
  CHECK_THROWS_WITH(imported("x = 1\n"), ContainsSubstring("no call of Trainer"));
  CHECK_THROWS_AS(imported("Trainer(strategy=FSDPStrategy(device_mesh=(1, 2, 3)))"), InputError);
}

TEST_CASE("plans that Lightning launches come back from their scripts") {
  Dice dice(17);
  const LaunchTarget target = lightning_target();
  for (int i = 0; i < 500; ++i) {
    const Strategy strategy = launchable_strategy(dice, Framework::lightning);
    Training training;
    training.sequence_length = 8192;
    training.optimizer =
        dice.one_of({Optimizer::adamw, Optimizer::sgd, Optimizer::lion, Optimizer::muon, Optimizer::adamw_8bit});
    training.precision = dice.one_of({PrecisionRecipe::fp32, PrecisionRecipe::bf16, PrecisionRecipe::bf16_pure});
    const LaunchFiles files = target.write(settings_for(strategy, training), "2.6.6");
    const std::string& text = files.files.front().text;
    Imported back = target.read(text, "train.py");
    derive_missing(back.settings);
    INFO(text);
    REQUIRE(strategy_of(back.settings) == strategy);
    REQUIRE(training_of(back.settings).optimizer == training.optimizer);
    REQUIRE(training_of(back.settings).precision == training.precision);
    REQUIRE(back.settings.sequence_length == 8192);
    REQUIRE(back.notes.unread.empty());
  }
}

}  // namespace
}  // namespace plumbline
