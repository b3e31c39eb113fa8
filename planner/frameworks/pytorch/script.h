#pragma once
/// \file script.h: a training script in plain PyTorch: the plan as constants, and the calls that carry it out
/// (templates/train.py, network.py and recipe.py).
///
/// Calls: fully_shard with reshard_after_forward, DistributedDataParallel, init_device_mesh, parallelize_module,
/// checkpoint_wrapper, PipelineStage and the pipeline schedules by name or by CSV, distributed checkpoints. The network
/// is the plan's where it is one that network.h writes, with safetensors as the Hub has them. Reading takes the
/// constants alone; nothing is executed. Source: torch/distributed/{fsdp,pipelining,tensor,checkpoint,device_mesh.py}
/// of PyTorch 2.13. Checked against: tests/unit/planner/frameworks/pytorch/script_test.cpp; compiled by Python in
/// tests/integration/pytorch_script_test.cpp; losses of `plan run`, and those after a restart, in
/// tests/integration/pytorch_training_test.py.

#include <string>
#include <string_view>

#include "core/io/json.h"

namespace plumbline::pytorch {

/// `constants` is an object of names and values.
[[nodiscard]] std::string script_text(const std::string& what, const Json& constants);
/// The constants of a script: lines NAME = literal at the left margin, as an object. Throws InputError (`name`) where
/// there is none, and for a text over 1 MiB.
[[nodiscard]] Json read_script(std::string_view text, std::string_view name);

}  // namespace plumbline::pytorch
