#include "planner/session/foreign_flags.h"

#include <algorithm>
#include <array>

#include "core/base/errors.h"
#include "planner/search/space.h"

namespace plumbline::session {
namespace {

/// What other programs call a flag of ours: Megatron-LM, DeepSpeed, torchrun, Hugging Face, and habits.
struct ForeignFlag {
  std::string_view theirs;
  std::string_view ours;
};
constexpr std::array foreign_flags{
    ForeignFlag{"--batch", "--global-batch"},
    ForeignFlag{"--batch-size", "--global-batch"},
    ForeignFlag{"--bs", "--global-batch"},
    ForeignFlag{"--gbs", "--global-batch"},
    ForeignFlag{"--global-batch-size", "--global-batch"},
    ForeignFlag{"--mbs", "--micro-batch"},
    ForeignFlag{"--micro-batch-size", "--micro-batch"},
    ForeignFlag{"--per-device-train-batch-size", "--micro-batch"},
    ForeignFlag{"--seq", "--seq-len"},
    ForeignFlag{"--seqlen", "--seq-len"},
    ForeignFlag{"--seq-length", "--seq-len"},
    ForeignFlag{"--sequence-length", "--seq-len"},
    ForeignFlag{"--max-seq-len", "--seq-len"},
    ForeignFlag{"--context-length", "--seq-len"},
    ForeignFlag{"--devices", "--gpus"},
    ForeignFlag{"--num-gpus", "--gpus"},
    ForeignFlag{"--ngpus", "--gpus"},
    ForeignFlag{"--world-size", "--gpus"},
    ForeignFlag{"--cluster", "--machine"},
    ForeignFlag{"--hardware", "--machine"},
    ForeignFlag{"--network", "--model"},
    ForeignFlag{"--config", "--model"},
    ForeignFlag{"--tensor-parallel", "--tp"},
    ForeignFlag{"--tensor-parallel-size", "--tp"},
    ForeignFlag{"--tensor-model-parallel-size", "--tp"},
    ForeignFlag{"--pipeline-parallel", "--pp"},
    ForeignFlag{"--pipeline-stages", "--pp"},
    ForeignFlag{"--pipeline-model-parallel-size", "--pp"},
    ForeignFlag{"--context-parallel", "--cp"},
    ForeignFlag{"--context-parallel-size", "--cp"},
    ForeignFlag{"--cp-comm-type", "--cp-comm"},
    ForeignFlag{"--expert-parallel", "--ep"},
    ForeignFlag{"--expert-model-parallel-size", "--ep"},
    ForeignFlag{"--expert-tensor-parallel-size", "--etp"},
    ForeignFlag{"--data-parallel", "--dp"},
    ForeignFlag{"--data-parallel-size", "--dp"},
    ForeignFlag{"--zero-stage", "--zero"},
    ForeignFlag{"--vs", "--virtual-stages"},
    ForeignFlag{"--vpp", "--virtual-stages"},
    ForeignFlag{"--pipeline-schedule", "--schedule"},
    ForeignFlag{"--recompute-granularity", "--recompute"},
    ForeignFlag{"--activation-checkpointing", "--recompute"},
    ForeignFlag{"--gradient-checkpointing", "--recompute"},
    ForeignFlag{"--dtype", "--precision"},
    ForeignFlag{"--bf16", "--precision"},
    ForeignFlag{"--fp16", "--precision"},
    ForeignFlag{"--lr", "--learning-rate"},
    ForeignFlag{"--jobs", "--threads"},
    ForeignFlag{"--output", "--out"},
    ForeignFlag{"--framework", "--stack"},
};

}  // namespace

std::string nearest_flag(const std::string& flag, const std::vector<std::string>& names, const std::string& value) {
  const auto has = [&](std::string_view name) { return std::find(names.begin(), names.end(), name) != names.end(); };
  std::string ours = flag;
  for (const ForeignFlag& foreign : foreign_flags)
    if (foreign.theirs == flag) ours = foreign.ours;
  if (has(ours)) return ours;
  const std::string axis(has("--fix") ? search_axis(ours.substr(std::min<std::size_t>(2, ours.size()))) : "");
  if (!axis.empty()) return "--fix " + axis + "=" + (value.empty() ? "VALUE" : value.substr(0, 40));
  return nearest_text(flag, names);
}

}  // namespace plumbline::session
