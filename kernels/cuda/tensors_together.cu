// Steps of AdamW and sums of squares over many tensors, in few launches: most tensors of a network are small.
#include <cmath>

#include "kernels/cuda/block_sum.h"
#include "kernels/cuda/cuda_kernels.h"
#include "kernels/cuda/health.h"
#include "kernels/cuda/optimizer_rules.h"
#include "kernels/cuda/tensors_together.h"

namespace plumbline::cuda {
namespace {

struct StepOfTensor {
  void* parameter;
  void* master;
  const void* gradient;
  void* first;
  void* second;
  std::int64_t elements;
  float weight_decay;
  unsigned first_block;
};
constexpr int most_steps = 64;
struct StepsTogether {
  StepOfTensor of[most_steps];
  int count;
  OptimizedParameter shared;  ///< what no tensor has of its own
  Adamw rule;
};
static_assert(sizeof(StepsTogether) <= bytes_of_arguments);

/// Formats that are known when compiling keep accesses of one group in flight together.
template <NumberFormat weights, NumberFormat gradients, bool has_master>
__global__ void __launch_bounds__(block_threads) step_together(const __grid_constant__ StepsTogether steps) {
  const StepOfTensor& tensor = steps.of[tensor_of_block(steps.of, steps.count)];
  OptimizedParameter p = steps.shared;
  p.weight_decay = tensor.weight_decay;
  if (!is_decided(p)) return;
  Adamw rule = steps.rule;
  rule.prepare(p);
  const std::int64_t n = tensor.elements;
  const TensorView parameter{tensor.parameter, weights, 1, n, n};
  const TensorView master{tensor.master, NumberFormat::fp32, 1, n, n};
  const TensorView source = has_master ? master : parameter;
  const ConstTensorView gradient{tensor.gradient, gradients, 1, n, n};
  const TensorView first{tensor.first, NumberFormat::fp32, 1, n, n};
  const TensorView second{tensor.second, NumberFormat::fp32, 1, n, n};
  for_each_of_part(n, tensor.first_block, [&](auto count, std::int64_t at) {
    Numbers<count> weight = load_numbers<count>(source, 0, at);
    Numbers<count> moment = load_numbers<count>(first, 0, at);
    Numbers<count> moment_of_squares = load_numbers<count>(second, 0, at);
    const Numbers<count> g = load_numbers<count>(gradient, 0, at);
    PLUMBLINE_UNROLLED
    for (int i = 0; i < count; ++i) {
      Element e{weight.at[i], scaled_gradient(p, g.at[i]), moment.at[i], moment_of_squares.at[i]};
      rule.run(p, e);
      weight.at[i] = e.weight;
      moment.at[i] = e.first;
      moment_of_squares.at[i] = e.second;
    }
    store_numbers<count>(parameter, 0, at, weight);
    if constexpr (has_master) store_numbers<count>(master, 0, at, weight);
    store_numbers<count>(first, 0, at, moment);
    store_numbers<count>(second, 0, at, moment_of_squares);
  });
}

using StepKernel = void (*)(StepsTogether);

/// Null: of other formats, one by one.
StepKernel step_kernel(const OptimizedParameter& p) {
  using enum NumberFormat;
  const NumberFormat weights = p.parameter.format;
  const NumberFormat gradients = p.gradient.format;
  if (!p.master.is_there()) return weights == fp32 && gradients == fp32 ? step_together<fp32, fp32, false> : nullptr;
  if (p.master.format != fp32) return nullptr;
  if (weights == bf16 && gradients == bf16) return step_together<bf16, bf16, true>;
  if (weights == bf16 && gradients == fp32) return step_together<bf16, fp32, true>;
  if (weights == fp16 && gradients == fp16) return step_together<fp16, fp16, true>;
  if (weights == fp16 && gradients == fp32) return step_together<fp16, fp32, true>;
  return nullptr;
}

bool is_flat_fp32(const TensorView& view, std::int64_t elements) {
  return view.format == NumberFormat::fp32 && flat_elements(view) == elements;
}

/// Elements that a launch of several takes, or 0.
std::int64_t elements_together(const AdamwStep& step) {
  const OptimizedParameter& p = step.parameter;
  const std::int64_t elements = flat_elements(p.parameter);
  const bool fits = step_kernel(p) != nullptr && !p.rounding.is_on && flat_elements(p.gradient) == elements &&
                    (!p.master.is_there() || is_flat_fp32(p.master, elements)) &&
                    is_flat_fp32(step.first_moment, elements) && is_flat_fp32(step.second_moment, elements);
  return fits ? elements : 0;
}

bool is_like(const AdamwStep& a, const AdamwStep& b) {
  const OptimizedParameter& p = a.parameter;
  const OptimizedParameter& q = b.parameter;
  return step_kernel(p) == step_kernel(q) && p.gradient_factor == q.gradient_factor &&
         p.learning_rate == q.learning_rate && p.gradient_limit == q.gradient_limit && p.decision == q.decision &&
         p.rate_of_step == q.rate_of_step && a.beta1 == b.beta1 && a.beta2 == b.beta2 && a.epsilon == b.epsilon &&
         a.step == b.step;
}

StepsTogether begin_with(const AdamwStep& step) {
  StepsTogether together{};
  together.shared = step.parameter;
  together.rule = {step.beta1, step.beta2, step.epsilon, step.step};
  return together;
}

constexpr int most_inputs = most_tensors;
struct InputOfBlocks {
  const void* data;
  std::int64_t elements;
  unsigned first_block;
};
struct InputsTogether {
  InputOfBlocks of[most_inputs];
  int count;
};
static_assert(sizeof(InputsTogether) <= bytes_of_arguments);

template <NumberFormat format>
__global__ void __launch_bounds__(block_threads)
    add_health_together(const __grid_constant__ InputsTogether inputs, TensorHealth* parts) {
  const InputOfBlocks& input = inputs.of[tensor_of_block(inputs.of, inputs.count)];
  const ConstTensorView view{input.data, format, 1, input.elements, input.elements};
  HealthOfThread health;
  for_each_of_part(input.elements, input.first_block,
                   [&](auto count, std::int64_t element) { health.add(load_numbers<count>(view, 0, element)); });
  health.write(parts + blockIdx.x);
}

using HealthKernel = void (*)(InputsTogether, TensorHealth*);
HealthKernel health_kernel(NumberFormat format) {
  switch (format) {
    case NumberFormat::fp32: return add_health_together<NumberFormat::fp32>;
    case NumberFormat::bf16: return add_health_together<NumberFormat::bf16>;
    case NumberFormat::fp16: return add_health_together<NumberFormat::fp16>;
    default: return nullptr;
  }
}
bool is_together(const ConstTensorView& input) {
  return health_kernel(input.format) != nullptr && flat_elements(input) > 0;
}

}  // namespace

void adamw_steps(std::span<const AdamwStep> steps, cudaStream_t stream) {
  StepsTogether together{};
  const AdamwStep* like = nullptr;
  unsigned blocks = 0;
  const auto flush = [&] {
    if (blocks > 0) launch("adamw_steps", {.grid = dim3(blocks)}, stream, step_kernel(like->parameter), together);
    together.count = 0;
    blocks = 0;
  };
  for (const AdamwStep& step : steps) {
    const std::int64_t elements = elements_together(step);
    if (elements == 0) {
      adamw_step(step, stream);
      continue;
    }
    if (together.count == most_steps || like == nullptr || !is_like(*like, step)) {
      flush();
      like = &step;
      together = begin_with(step);
    }
    const OptimizedParameter& p = step.parameter;
    together.of[together.count++] = {p.parameter.data,        p.master.data, p.gradient.data, step.first_moment.data,
                                     step.second_moment.data, elements,      p.weight_decay,  blocks};
    blocks += parts_of(elements);
  }
  flush();
}

Bytes health_sums_workspace(const HealthSums& args) {
  std::int64_t parts = 0;
  Bytes of_one(0);
  for (const ConstTensorView& input : args.inputs)
    if (is_together(input))
      parts += parts_of(flat_elements(input));
    else
      of_one = std::max(of_one, health_workspace({input}));
  return std::max(of_one, Bytes(parts * static_cast<std::int64_t>(sizeof(TensorHealth))));
}

void add_health_sums(const HealthSums& args, cudaStream_t stream) {
  check(args.workspace.size >= health_sums_workspace(args),
        "the workspace is as large as the op's workspace function says");
  auto* const parts = static_cast<TensorHealth*>(args.workspace.data);
  InputsTogether together{};
  NumberFormat format = NumberFormat::fp32;
  unsigned blocks = 0;
  std::int64_t done = 0;
  const auto flush = [&] {
    if (blocks > 0)
      launch("add_health_sums", {.grid = dim3(blocks)}, stream, health_kernel(format), together, parts + done);
    done += blocks;
    together.count = 0;
    blocks = 0;
  };
  for (const ConstTensorView& input : args.inputs) {
    if (!is_together(input)) continue;
    if (together.count == most_inputs || input.format != format) flush();
    format = input.format;
    together.of[together.count++] = {input.data, flat_elements(input), blocks};
    blocks += parts_of(flat_elements(input));
  }
  flush();
  if (done > 0) add_health_parts(parts, done, args.sum, stream);
  for (const ConstTensorView& input : args.inputs)
    if (!is_together(input)) add_health({input, args.sum, args.workspace}, stream);
}

}  // namespace plumbline::cuda
