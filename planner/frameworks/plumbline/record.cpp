// This program's own runtime: what `plan run` executes, as docs/running.md lists it.
#include "planner/frameworks/framework.h"

namespace plumbline {
namespace {

constexpr std::string_view running = "docs/running.md, What of a plan is executed";

template <class Value>
std::vector<Launchable<Value>> all_as_flag(const std::vector<Value>& values, std::string_view flag) {
  std::vector<Launchable<Value>> list;
  for (const Value value : values) list.push_back({value, flag, running});
  return list;
}

}  // namespace

FrameworkRecord plumbline_record() {
  FrameworkRecord r;
  r.framework = Framework::plumbline;
  r.title = "plan run";
  r.stacks = {"Plumbline"};
  r.current_stack = "plumbline";
  r.adapters = "--lora-rank";
  r.adapters_source = running;
  r.schedules = all_as_flag<Schedule>({all_schedules.begin() + 1, all_schedules.end()}, "--schedule");  // not "none"
  for (const RecomputeName& name : recompute_names) r.recompute.push_back({name.mode, "--recompute", running});
  r.zero_stages = all_as_flag<std::int32_t>({0, 1, 2, 3}, "--zero");
  for (const FeatureRow& row : feature_rows) r.features.push_back({row.feature, row.flag, running});
  r.precisions = all_as_flag<PrecisionRecipe>(
      {PrecisionRecipe::fp32, PrecisionRecipe::tf32, PrecisionRecipe::fp16, PrecisionRecipe::bf16,
       PrecisionRecipe::bf16_pure, PrecisionRecipe::fp16_pure, PrecisionRecipe::fp8, PrecisionRecipe::fp8_row},
      "--precision");
  r.optimizers = all_as_flag<Optimizer>(executed_optimizers(), "--optimizer");
  for (const ExecutionRule& rule : execution_rules()) r.rules.push_back({rule.sentence, running, rule.is_broken});
  r.network_problem = [](const NetworkFacts& network) { return network.not_executed; };
  r.defaults = {NumberFormat::bf16, "core/training/precision.cpp: the recipe's own", "buckets of the stack plumbline",
                "models/calibrations/stack-plumbline.json"};
  return r;
}

}  // namespace plumbline
