#include "planner/present/glossary.h"

namespace plumbline::present {

std::string_view meaning(TimeCause cause) {
  switch (cause) {
    case TimeCause::compute: return "forward and backward of the busiest rank: matrix products and everything else";
    case TimeCause::recompute: return "forward operators that the backward pass computes again to save memory";
    case TimeCause::offload: return "activations copied to host memory and back, as far as compute does not hide it";
    case TimeCause::tensor_parallel: return "collectives of tensor parallelism that nothing hides";
    case TimeCause::context_parallel: return "exchange of keys and values, or of heads, between context-parallel ranks";
    case TimeCause::expert_parallel: return "all-to-alls that carry tokens to their experts and back";
    case TimeCause::data_parallel:
      return "gradients reduced and parameters gathered, as far as compute does not hide it";
    case TimeCause::pipeline_bubble: return "waiting for other pipeline stages";
    case TimeCause::optimizer: return "the update of the weights";
    case TimeCause::step_overhead: return "what the stack takes once per step, however large the step is";
  }
  return "";
}

std::string_view meaning(MemoryClass memory_class) {
  switch (memory_class) {
    case MemoryClass::weights: return "parameters in the format that is computed with";
    case MemoryClass::gradients: return "accumulated gradients";
    case MemoryClass::master_weights: return "32-bit copies of the weights that the optimizer updates";
    case MemoryClass::optimizer_state: return "the optimizer's moments";
    case MemoryClass::activations: return "tensors that micro-batches in flight keep for their backward pass";
    case MemoryClass::working_buffers:
      return "the largest operator's temporaries, what a recompute restores at once, workspaces of matrix products";
    case MemoryClass::logits_and_loss: return "the output over the vocabulary and what its loss needs";
    case MemoryClass::gathered_parameters:
      return "unsharded copies of layers in use (ZeRO-3), gradient buffers (ZeRO-2, 3)";
    case MemoryClass::communication_buffers: return "buffers of communicators, and what pipeline stages receive";
    case MemoryClass::framework_and_context: return "the device's context and its loaded kernels";
    case MemoryClass::fragmentation: return "what the allocator reserves and cannot use";
  }
  return "";
}

const std::vector<Term>& terms() {
  static const std::vector<Term> all{
      {"bubble", "share of a step in which a pipeline rank waits for others"},
      {"chance to fit", "that the memory a run turns out to need is at most the GPU's, from the memory model's error"},
      {"far from anything measured",
       "the plan lies outside of the runs behind its calibration, in one respect by a factor of two or more; the "
       "interval is wider for it"},
      {"global batch", "sequences (or images) of one optimizer step, over all GPUs"},
      {"headroom", "memory of every GPU that a plan is to leave free (`--headroom`)"},
      {"HFU", "as MFU, with the recomputed operators counted too"},
      {"in flight", "micro-batches whose forward has run on a stage and whose backward has not"},
      {"interval", "nine of ten measured runs are expected to lie inside"},
      {"MFU",
       "model FLOPs of a step over what all GPUs could compute in its time at their dense peak; attention is "
       "counted in full, and as \"causal\" with only what the mask leaves"},
      {"micro-batch", "what a data-parallel rank computes at once; `mbs 2 x 16` is 16 micro-batches of 2 sequences"},
      {"recompute", "dropping activations in the forward pass and computing them again in the backward pass"},
      {"reserved", "live tensors and what the allocator loses: PyTorch's \"reserved\" memory"},
      {"sp", "sequence parallelism: norms and dropout divided over tensor-parallel ranks along the sequence"},
      {"stack", "a framework's release with its kernels and habits, whose calibration prices a plan (`plan stacks`)"},
      {"virtual stage", "one of several chunks of layers that a pipeline rank holds under an interleaved schedule"},
      {"ZeRO",
       "sharing optimizer state (1), gradients too (2), weights too (3) over data-parallel ranks; 3 is FSDP's "
       "full shard"}};
  return all;
}

}  // namespace plumbline::present
