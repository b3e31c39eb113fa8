// Plain PyTorch: what the calls of a short script can launch (script_body.cpp).
#include "planner/frameworks/framework.h"

namespace plumbline {
namespace {

constexpr std::string_view schedules = "torch/distributed/pipelining/schedules.py: get_schedule_class";
constexpr std::string_view csv = "torch/distributed/pipelining/schedules.py: _PipelineScheduleRuntime";
constexpr std::string_view by_csv = "schedule._load_csv(FILE)";
constexpr std::string_view fully_shard = "torch/distributed/fsdp/_fully_shard/_fully_shard.py";
constexpr std::string_view meshes = "torch/distributed/device_mesh.py";
constexpr std::string_view tensor = "torch/distributed/tensor/parallel";
constexpr std::string_view ddp = "torch/nn/parallel/distributed.py";
constexpr std::string_view checkpoint = "torch/distributed/algorithms/_checkpoint/checkpoint_wrapper.py";
constexpr std::string_view optim = "torch/optim";

bool replicates_split_tensors(const Strategy& s, const NetworkFacts&) {
  return s.zero_stage == 0 && s.data_parallel > 1 && s.tensor_parallel > 1;
}

}  // namespace

FrameworkRecord pytorch_record() {
  FrameworkRecord r;
  r.framework = Framework::pytorch;
  r.title = "PyTorch";
  r.revision = "PyTorch 2.13.0";
  r.schedules = {{Schedule::gpipe, "ScheduleGPipe", schedules},
                 {Schedule::one_f_one_b, "Schedule1F1B", schedules},
                 {Schedule::interleaved, "ScheduleInterleaved1F1B", schedules},
                 {Schedule::zb_h1, by_csv, csv},
                 {Schedule::zb_h2, by_csv, csv},
                 {Schedule::zbv, "ScheduleZBVZeroBubble", schedules},
                 {Schedule::v_half, by_csv, csv},
                 {Schedule::dualpipev, "ScheduleDualPipeV", schedules}};
  r.recompute = {{RecomputeMode::none, "no checkpoint_wrapper", checkpoint},
                 {RecomputeMode::full, "checkpoint_wrapper(layer)", checkpoint},
                 {RecomputeMode::every_nth, "checkpoint_wrapper of every Nth layer", checkpoint}};
  r.zero_stages = {{0, "DistributedDataParallel", ddp},
                   {2, "fully_shard(reshard_after_forward=False)", fully_shard},
                   {3, "fully_shard(reshard_after_forward=True)", fully_shard}};
  r.features = {{Feature::tensor_parallel, "parallelize_module(ColwiseParallel, RowwiseParallel)", tensor},
                {Feature::sequence_parallel, "SequenceParallel", tensor},
                {Feature::pipeline, "PipelineStage", "torch/distributed/pipelining/stage.py"},
                {Feature::virtual_stages, "several stages to a schedule", schedules},
                {Feature::hybrid_sharding, "fully_shard(mesh of two dimensions)", meshes},
                {Feature::layer_units, "fully_shard(list of layers)", fully_shard},
                {Feature::uneven_split, "layers of each stage's module", "the script's own split"}};
  r.precisions = {
      {PrecisionRecipe::fp32, "neither policy nor autocast", fully_shard},
      {PrecisionRecipe::bf16, "MixedPrecisionPolicy(param_dtype=torch.bfloat16), or torch.autocast", fully_shard},
      {PrecisionRecipe::bf16_pure, "module.to(torch.bfloat16)", "torch/nn/modules/module.py"}};
  r.optimizers = {{Optimizer::sgd, "SGD", optim},         {Optimizer::momentum, "SGD(momentum=0.9)", optim},
                  {Optimizer::adagrad, "Adagrad", optim}, {Optimizer::rmsprop, "RMSprop", optim},
                  {Optimizer::adam, "Adam", optim},       {Optimizer::adamw, "AdamW", optim}};
  r.rules = {
      {"replicates parameters (DDP) where tensor parallelism does not split them", ddp, replicates_split_tensors}};
  r.defaults = {NumberFormat::fp32, "MixedPrecisionPolicy(reduce_dtype=torch.float32)",
                "25 MiB under DDP; one for each block under fully_shard", ddp};
  return r;
}

}  // namespace plumbline
