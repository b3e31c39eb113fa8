// Plain PyTorch: what the calls of a short script can launch (templates/train.py).
#include "planner/frameworks/framework.h"
#include "planner/frameworks/launch/torch_optimizers.h"
#include "planner/frameworks/torch/schedule_names.h"

namespace plumbline {
namespace {

constexpr std::string_view schedules_source = "torch/distributed/pipelining/schedules.py: get_schedule_class";
constexpr std::string_view csv_source = "torch/distributed/pipelining/schedules.py: _PipelineScheduleRuntime";
constexpr std::string_view fully_shard_source = "torch/distributed/fsdp/_fully_shard/_fully_shard.py";
constexpr std::string_view meshes_source = "torch/distributed/device_mesh.py";
constexpr std::string_view tensor_source = "torch/distributed/tensor/parallel";
constexpr std::string_view ddp_source = "torch/nn/parallel/distributed.py";
constexpr std::string_view checkpoint_source = "torch/distributed/algorithms/_checkpoint/checkpoint_wrapper.py";

/// Of a backward in two parts, stage_backward_input and stage_backward_weight, fully_shard has freed the parameters
/// between them.
bool splits_backward_of_freed(const Strategy& s, const NetworkFacts&) {
  return s.pipeline_stages > 1 && splits_backward(s.schedule) && s.zero_stage == 3 && s.data_parallel > 1;
}

/// The mesh of the smaller groups is made by each rank from its own shard mesh; ranks of other tensor parts or stages
/// would make other groups by the same call.
bool reshards_a_part_of_the_ranks(const Strategy& s, const NetworkFacts&) {
  return s.secondary_shard_group > 1 && (s.tensor_parallel > 1 || s.pipeline_stages > 1);
}

}  // namespace

FrameworkRecord pytorch_record() {
  FrameworkRecord r;
  r.framework = Framework::pytorch;
  r.title = "PyTorch";
  r.stacks = {"PyTorch"};
  r.current_stack = "pytorch-2.9";  // its modules run as PyTorch has them, without a compiler
  r.scope =
      FrameworkScope{.has_every_network = true, .is_last_resort = true, .source = "it trains any torch.nn.Module"};
  r.revision = "PyTorch 2.13.0";
  r.schedules = torch::launchable_schedules(torch::schedule_class, "schedule._load_csv(FILE)", csv_source);
  r.recompute = {{RecomputeMode::none, "no checkpoint_wrapper", checkpoint_source},
                 {RecomputeMode::full, "checkpoint_wrapper(layer)", checkpoint_source},
                 {RecomputeMode::every_nth, "checkpoint_wrapper of every Nth layer", checkpoint_source}};
  r.zero_stages = {
      {0, "DistributedDataParallel; all_reduce behind the step in a pipeline and with tensor parallelism", ddp_source},
      {2, "fully_shard(reshard_after_forward=False)", fully_shard_source},
      {3, "fully_shard(reshard_after_forward=True)", fully_shard_source}};
  r.features = {{Feature::tensor_parallel, "parallelize_module(ColwiseParallel, RowwiseParallel)", tensor_source},
                {Feature::sequence_parallel, "SequenceParallel", tensor_source},
                {Feature::pipeline, "PipelineStage", "torch/distributed/pipelining/stage.py"},
                {Feature::virtual_stages, "several stages to a schedule", schedules_source},
                {Feature::hybrid_sharding, "fully_shard(mesh of two dimensions)", meshes_source},
                {Feature::layer_units, "fully_shard(list of layers)", fully_shard_source},
                {Feature::secondary_shards, "fully_shard(reshard_after_forward=N)", fully_shard_source},
                {Feature::uneven_split, "layers of each stage's module", "the script's own split"}};
  r.precisions = {{PrecisionRecipe::fp32, "neither policy nor autocast", fully_shard_source},
                  {PrecisionRecipe::bf16, "MixedPrecisionPolicy(param_dtype=torch.bfloat16), or torch.autocast",
                   fully_shard_source},
                  {PrecisionRecipe::bf16_pure, "module.to(torch.bfloat16)", "torch/nn/modules/module.py"}};
  r.optimizers = launched_optimizers(OptimizersOf::pytorch, "SGD(momentum=0.9)");
  r.rules = {
      {"splits backwards of parameters that stay whole over the step, not of those that are gathered again (ZeRO-3)",
       "torch/distributed/pipelining/_backward.py; measured with PyTorch 2.13 on the CPU", splits_backward_of_freed},
      {"reshards to secondary groups without tensor parallelism and pipelines alone",
       "torch/distributed/fsdp/_fully_shard/_fsdp_init.py: _get_post_forward_mesh_info", reshards_a_part_of_the_ranks},
      whole_parameters_rule()};
  r.defaults = {NumberFormat::fp32, "MixedPrecisionPolicy(reduce_dtype=torch.float32)",
                "25 MiB under DDP; one for each block under fully_shard", ddp_source};
  return r;
}

}  // namespace plumbline
