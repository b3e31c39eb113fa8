#include "cli/strategy_options.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <span>

#include "cli/flag_values.h"

namespace plumbline {

void StrategyOptions::declare(CLI::App& app) {
  const auto option = [&](const char* flag, std::optional<std::string>& value, const char* type, const char* text) {
    return app.add_option(flag, value, text)->group("Strategy")->type_name(type);
  };
  const std::string recomputes = recompute_names_text("|");
  const std::string schedules = alternatives(names_of(std::span(all_schedules).subspan(1)));  // not "none"
  option("--tp", flags_.tp, "N", "tensor-parallel ranks (1)");
  option("--pp", flags_.pp, "N", "pipeline stages (1)");
  option("--dp", flags_.dp, "N", "data-parallel ranks (the GPUs that the other degrees leave)");
  option("--cp", flags_.cp, "N", "context-parallel ranks (1)");
  option("--cp-comm", flags_.context_communication, "ring|all-to-all",
         "how they attend to all tokens (ring); all-to-all scatters heads, as DeepSpeed Ulysses");
  option("--ep", flags_.ep, "N", "expert-parallel ranks (1)");
  option("--etp", flags_.etp, "N", "tensor-parallel ranks inside an expert (1)");
  option("--virtual-stages", flags_.virtual_stages, "N", "chunks of layers on each pipeline rank (1)");
  option("--zero", flags_.zero, "0|1|2|3", "ZeRO stage; 3 is FSDP (0)");
  option("--shard-group", flags_.shard_group, "N", "ranks that share one copy of the sharded states (all)");
  option("--prefetch", flags_.prefetch, "on|off", "ZeRO-3: gather a unit alongside the one before it (on)")
      ->expected(0, 1);
  option("--layers-per-unit", flags_.layers_per_unit, "N", "ZeRO-3: layers gathered and reduced at once (1)");
  option("--schedule", flags_.schedule, schedules.c_str(),
         "of the pipeline (1f1b; interleaved with virtual stages); a search takes the first three, others by --fix");
  option("--micro-batch", flags_.micro_batch, "N", "sequences of one micro-batch (1)");
  option("--recompute", flags_.recompute, recomputes.c_str(),
         "what the backward pass computes again (none); optimal: the least that fits");
  option("--split", flags_.split, "even|balanced",
         "which layers a pipeline stage holds (even); balanced: the fastest split");
  option("--layers-per-stage", flags_.layers_per_stage, "N,N,...",
         "the same by hand, a number for each pipeline chunk");
  option("--sequence-parallel", flags_.sequence_parallel, "on|off", "with tensor parallelism (off; on without a value)")
      ->expected(0, 1);
  option("--flash-attention", flags_.flash_attention, "on|off", "fused attention kernels (on)")->expected(0, 1);
}

}  // namespace plumbline
