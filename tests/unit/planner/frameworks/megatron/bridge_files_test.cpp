// Lines that set a Megatron-Bridge recipe's configuration.

#include "core/base/errors.h"
#include "planner/frameworks/launch/launch_target.h"
#include "planner/frameworks/megatron/overrides.h"
#include "tests/catch.h"

namespace plumbline {
namespace {

std::string tree_of(std::string_view text) { return to_json_text(megatron::read_overrides(text, "x.py").tree, -1); }

TEST_CASE("assignments to a configuration become a tree, and are written back") {
  CHECK(tree_of("cfg.model.a = 2  # two\n    config.train.b = 'x#y'\nself.cfg.c = [\"p\", 'q']\nmodel.d=None\n"
                "cfg.mixed_precision = bf16_mixed()\nx = 1\nif cfg.model.a == 2:\n    pass\ncfg.model.e = 1_000\n") ==
        R"x({"model":{"a":2,"d":null,"e":1000},"train":{"b":"x#y"},"c":["p","q"],"mixed_precision":"bf16_mixed"})x"
        "\n");
  const auto unresolved = megatron::read_overrides("cfg.model.a = N * 2\ncfg.b = 1", "x.py").unresolved;
  CHECK(unresolved == std::vector<std::string>{"model.a: its value N * 2 is not a literal"});
  const std::string text = "    cfg.model.a = 2\n    cfg.model.b = None\n    cfg.c = [\"p\", True]\n";
  CHECK(megatron::overrides_text(megatron::read_overrides(text, "x.py").tree) == text);
}

TEST_CASE("a text without assignments, and an endless one, are refused or bounded") {
  CHECK_THROWS_WITH(megatron::read_overrides("print(1)", "x.py"),
                    Catch::Matchers::ContainsSubstring("nothing is assigned"));
  CHECK_THROWS_AS(megatron::read_overrides(std::string((1U << 20) + 1, 'a'), "x.py"), InputError);
  std::string dots = "cfg.";
  for (int i = 0; i < 100'000; ++i) dots += "a.";
  CHECK(megatron::read_overrides(dots + "b = 1", "x.py").tree.if_object() != nullptr);
  CHECK_THROWS_AS(megatron::read_overrides("cfg.a = " + std::string(100'000, '['), "x.py").unresolved.at(1),
                  std::out_of_range);
}

TEST_CASE("recompute of several layers is written in overrides and read back") {
  const auto read = [](const std::string& more) {
    return to_text(*megatron_bridge_target()
                        .read("cfg.model.recompute_granularity = 'full'\n" + more, "recipe.py")
                        .settings.recompute);
  };
  CHECK(read("cfg.model.recompute_method = 'uniform'\ncfg.model.recompute_num_layers = 4\n") == "uniform:4");
  CHECK(read("cfg.model.recompute_method = 'uniform'\ncfg.model.recompute_num_layers = 1\n") == "full");
  CHECK(read("cfg.model.recompute_method = 'block'\ncfg.model.recompute_num_layers = 3\n") == "block:3");
  CHECK(read("cfg.model.recompute_method = None\ncfg.model.recompute_num_layers = None\n") == "full");
}

// The attributes are those of a pretraining recipe on 256 GPUs.
TEST_CASE("overrides of a recipe are read, what matters and is not modelled is named") {
  const Imported one = megatron_bridge_target().read(
      "cfg.model.tensor_model_parallel_size = 8\ncfg.model.pipeline_model_parallel_size = 8\n"
      "cfg.model.virtual_pipeline_model_parallel_size = 2\ncfg.model.context_parallel_size = 4\n"
      "cfg.model.sequence_parallel = True\ncfg.train.micro_batch_size = 1\ncfg.train.global_batch_size = 512\n"
      "cfg.model.seq_length = 8192\ncfg.ddp.use_distributed_optimizer = True\ncfg.ddp.grad_reduce_in_fp32 = False\n"
      "cfg.model.recompute_granularity = 'selective'\ncfg.model.recompute_modules = ['layernorm', 'mlp']\n"
      "cfg.mixed_precision = 'bf16_with_fp8_current_scaling_mixed'\ncfg.comm_overlap.tp_comm_overlap = True\n"
      "cfg.comm_overlap.delay_wgrad_compute = True\ncfg.model.cuda_graph_impl = 'full_iteration'\n"
      "cfg.logger.log_interval = 10\ncfg.model.cp_comm_type = 'a2a'\n",
      "recipe.py");
  const LaunchSettings& s = one.settings;
  CHECK(s.tensor_parallel == 8);
  CHECK(s.virtual_stages == 2);
  CHECK(s.context_parallel == 4);
  CHECK(s.context_communication == ContextCommunication::all_to_all);
  CHECK(s.global_batch == 512);
  CHECK(s.sequence_length == 8192);
  CHECK(s.zero_stage == 1);
  CHECK(s.gradient_format == NumberFormat::bf16);
  CHECK(s.precision == PrecisionRecipe::fp8);
  CHECK(to_text(*s.recompute) == "selective:layernorm+mlp");
  CHECK(one.notes.unread ==
        std::vector<std::string>{"comm_overlap.delay_wgrad_compute changes memory and time and is not modelled"});
  CHECK(s.choices.tp_comm_overlap == "on");
  CHECK(s.choices.cuda_graphs == "iteration");
  CHECK(one.notes.ignored == 1);
}

}  // namespace
}  // namespace plumbline
