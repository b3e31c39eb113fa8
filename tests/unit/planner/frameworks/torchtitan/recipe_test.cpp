// torchtitan's recipes as trees.

#include "planner/frameworks/torchtitan/recipe.h"

#include "core/base/errors.h"
#include "planner/frameworks/torchtitan/launch_keys.h"
#include "tests/catch.h"

namespace plumbline::torchtitan {
namespace {

std::string as_json(const std::string& recipe) {
  std::string text = to_json_text(read_recipe(recipe, "recipe.py"), -1);
  text.pop_back();
  return text;
}

TEST_CASE("a recipe calls torchtitan's own and sets what the plan says") {
  const Json tree = parse_json(R"({"model": {"name": "llama3", "flavor": "70B"},
      "training": {"steps": 1000, "dtype": "bfloat16"},
      "parallelism": {"tensor_parallel_degree": 8, "module_fqns_per_model_part": [["a"], ["b", "c"]]},
      "activation_checkpoint": {"mode": "full"}, "compile": {"enable": true}})",
                               "test");
  CHECK(recipe_text(tree) ==
        R"(# A recipe of torchtitan: torchrun ... -m torchtitan.train --module torchtitan_recipe --config plan
from torchtitan.distributed.activation_checkpoint import FullAC
from torchtitan.models.llama3.config_registry import llama3_70b
from torchtitan.trainer import Trainer


def plan() -> Trainer.Config:
    config = llama3_70b()
    config.training.steps = 1000
    config.training.dtype = "bfloat16"
    config.parallelism.tensor_parallel_degree = 8
    config.parallelism.module_fqns_per_model_part = [
        ["a"],
        ["b", "c"],
    ]
    config.compile.enable = True
    config.activation_checkpoint = FullAC.Config()
    return config
)");
}

TEST_CASE("a network without a recipe of its own takes another's and its own flavor") {
  const Json tree =
      parse_json(R"({"model": {"name": "qwen3", "flavor": "8B", "hf_assets_path": "./x/Qwen3-8B"}})", "test");
  const std::string text = recipe_text(tree);
  CHECK(text.find("    config = qwen3_14b()\n    config.model_spec = model_registry(\"8B\")\n") != std::string::npos);
  CHECK(text.find("from torchtitan.models.qwen3 import model_registry\n") != std::string::npos);
  CHECK(as_json(text) == R"({"model":{"name":"qwen3","flavor":"8B","hf_assets_path":"./x/Qwen3-8B"}})");
}

TEST_CASE("assignments are read with Python's literals, whatever else the file holds") {
  CHECK(
      as_json(R"(
def f():
    c = llama3_8b()  # from the registry
    if c.training.steps == 5: pass
    c.training.num_tokens_per_microbatch_per_dp_rank = 4 * 8_192
    c.training.max_norm = 1e-1
    c.parallelism.pipeline_parallel_schedule = 'Interleaved1F1B'
    c.parallelism.module_fqns_per_model_part = [  # by hand
        ["tok_embeddings", "layers.0"],
        ("norm",),
    ]
    c.parallelism.context_parallel_load_balancer = None
    c.training.lr = make_rate(3)
    c.activation_checkpoint = SelectiveAC.Config()
)") ==
      R"({"model":{"name":"llama3","flavor":"8B"},)"
      R"("training":{"num_tokens_per_microbatch_per_dp_rank":32768,"max_norm":0.1},)"
      R"("parallelism":{"pipeline_parallel_schedule":"Interleaved1F1B",)"
      R"("module_fqns_per_model_part":[["tok_embeddings","layers.0"],["norm"]],"context_parallel_load_balancer":null},)"
      R"("activation_checkpoint":{"selective_ac_option":"op","mode":"selective"}})");
}

TEST_CASE("what is no recipe is refused, and no text is executed or endless") {
  CHECK_THROWS_AS(read_recipe("", "x.py"), InputError);
  CHECK_THROWS_AS(read_recipe("import os\nprint(1)\n", "x.py"), InputError);
  CHECK_THROWS_AS(read_recipe(std::string(2 << 20, 'a'), "x.py"), InputError);
  CHECK_THROWS_AS(read_recipe("c.a.b = " + std::string(100'000, '['), "x.py"), InputError);
  CHECK_THROWS_AS(read_recipe("c.a.b = \"never ends", "x.py"), InputError);
  CHECK(as_json("c.a.b = 99999999999 * 99999999999\nc.a.c = 1\n") == R"({"a":{"c":1}})");
}

}  // namespace
}  // namespace plumbline::torchtitan
