#include "planner/frameworks/deepspeed/training_script.h"

#include "planner/frameworks/launch/hub_model.h"
#include "planner/frameworks/launch/script_parts.h"
#include "planner/frameworks/syntax/script_template.h"

namespace plumbline {

std::string deepspeed_training_script(const LaunchSettings& s) {
  const bool has_tensor_parallel = s.tensor_parallel.value_or(1) > 1;
  const bool has_sequence_parallel = s.context_parallel.value_or(1) > 1;
  const bool is_sharded = s.zero_stage.value_or(0) == 3;
  const SampleOf sample = has_sequence_parallel ? SampleOf::positions_and_targets : SampleOf::positions;
  return filled_script(script_template("deepspeed/templates/train"),
                       {{"random_tokens", random_tokens_function(sample)},
                        {"rate_factor", rate_factor_function()},
                        {"decayed", decayed_function()},
                        {"PLUMBLINE_LOADS_WEIGHTS", loads_weights(s)},
                        {"PLUMBLINE_FORMAT", weight_format(s)},
                        {"PLUMBLINE_RANK_GROUPS", has_sequence_parallel ? "mpu" : "groups"},
                        {"has_rank_groups", has_sequence_parallel || has_tensor_parallel},
                        {"pipeline", s.pipeline_stages.value_or(1) != 1},
                        {"tensor_parallel", has_tensor_parallel},
                        {"sequence_parallel", has_sequence_parallel},
                        {"sharded", is_sharded},
                        {"sharded_over_all", is_sharded && !has_tensor_parallel},
                        {"sharded_over_groups", is_sharded && has_tensor_parallel},
                        {"adapters", has_adapters(s)},
                        {"fused_loss", has_fused_loss(s)}});
}

}  // namespace plumbline
