// What the kernels of a block's operators take, and how many the host launches.
#include <optional>

#include "core/cost/autocast.h"
#include "core/cost/block_times.h"
#include "core/cost/chunked_head.h"
#include "core/cost/joined_norms.h"
#include "core/sharding/logits.h"
#include "core/sharding/product_format.h"

namespace plumbline {
namespace {

double imbalance(const KernelClock& kernels, const Shard& shard) {
  return shard.expert_parallel > 1 ? kernels.calibration().stack.experts.expert_imbalance.value : 1.0;
}

struct PassTimes {
  Seconds forward{0};
  Seconds backward{0};
};
/// With a product: of weights where the framework casts them itself, and of operands in few bits.
struct CastTimes {
  PassTimes weights;
  PassTimes operands;
};

/// Bytes that casts of a product's operands move, over those of kernels of their own.
double share_of_casts(const StackCalibration& stack, const OpWork& work) {
  const bool is_of_experts = work.kind == WorkKind::grouped_product;
  if (is_of_experts && stack.features.expert_casts != ExpertCasts::joined) return 1;
  return stack.compute.quantisation_factor;
}

CastTimes cast_times(const KernelClock& kernels, const OpWork& work, NumberFormat format, const Shard& shard) {
  CastTimes times;
  if (casts_itself(kernels.calibration().stack.features, shard.formats)) {
    const Traffic casts = weight_casts(work);
    times.weights = {kernels.memory(casts.forward), kernels.memory(casts.backward)};
  }
  if (!is_quantized(format)) return times;
  const CastBytes bytes = cast_bytes(format, shard.formats.scaling, shard.kept.product_inputs, kernels.fp8_layouts());
  const MatrixProduct& p = *work.product;
  const double share = share_of_casts(kernels.calibration().stack, work);
  const double input = share * static_cast<double>(p.batch * p.m * p.k);
  const double weight = share * static_cast<double>(p.batch * p.k * p.n);
  const double output = share * static_cast<double>(p.batch * p.m * p.n);
  times.operands.forward = kernels.stream(bytes.input_forward * input + bytes.weight_forward * weight);
  double backward = work.needs.input || work.needs.weight ? bytes.gradient * output : 0;
  if (work.needs.input) backward += bytes.weight_backward * weight;
  if (work.needs.weight) backward += bytes.input_backward * input;
  times.operands.backward = kernels.stream(backward);
  return times;
}

/// Around a product of experts: biases that are added expert by expert, and padded rows.
PassTimes expert_times(const KernelClock& kernels, const OperatorPasses& passes, const Op& op, const OpWork& work,
                       NumberFormat format, NumberFormat activation) {
  const Traffic biases = passes.expert_biases(op, work, activation);
  const Traffic padding = is_quantized(format) ? passes.expert_padding(op, work, activation) : Traffic{};
  return {kernels.memory(biases.forward) + kernels.memory(padding.forward),
          kernels.memory(biases.backward) + kernels.memory(padding.backward)};
}

bool runs_by_chunks(const Block& block, const Op& op, const OpWork& work, const StackFeatures& features) {
  return features.head_products == HeadProducts::by_chunks && work.kind == WorkKind::product &&
         is_logits(block, op.outputs.front());
}

/// The products of a head that is cut into chunks, all in its forward.
Seconds chunked_head_time(const KernelClock& kernels, const OpWork& work, NumberFormat format, const Shard& shard) {
  const MatrixProduct& p = *work.product;
  const ChunkedHead head = chunked_head(p);
  const OperandScaling scaling = shard.formats.scaling;
  Seconds each = kernels.product({1, head.rows, p.n, p.k}, format, scaling);
  if (work.needs.input) each += kernels.product({1, head.rows, p.k, p.n}, format, scaling);
  if (work.needs.weight) each += kernels.product({1, p.k, p.n, head.rows}, format, scaling);
  const Seconds all = static_cast<double>(head.chunks) * each;
  return work.needs.weight ? all + kernels.memory(head.accumulated(p, shard.formats.activation)) : all;
}

/// Zero: there is none of its own.
struct ProductTimes {
  Seconds forward{0};
  Seconds input_gradient{0};
  Seconds weight_gradient{0};
};

/// In the kernels of the batch norm before it, where the framework joins them.
std::optional<PassCounts> joined_passes(const Block& block, const Op& op, const StackFeatures& features) {
  return features.batch_norms == BatchNorms::with_activation ? passes_in_norm(block, op) : std::nullopt;
}

/// What it adds to the traffic of that norm's kernels, which were launched already.
PassTimes times_in_norm(const KernelClock& kernels, const PassCounts& passes, const Block& block, const Op& op,
                        const Shard& shard) {
  const Bytes y = storage(local_elements(block.tensor(op.outputs.front()), shard), shard.formats.activation);
  const auto time = [&](std::int64_t count) {
    const double factor = kernels.calibration().stack.compute.memory_bound_factor;
    return kernels.stream(factor * static_cast<double>((count * y).value()));
  };
  return {time(passes.forward), time(passes.backward)};
}

/// Of what is no product, attention or delta rule.
PassTimes memory_times(const KernelClock& kernels, const OperatorPasses& passes, const Block& block, const Op& op,
                       const OpWork& work, const Shard& shard) {
  if (const auto joined = joined_passes(block, op, kernels.calibration().stack.features))
    return times_in_norm(kernels, *joined, block, op, shard);
  const Traffic traffic = has_image_residuals(block) ? Traffic{work.forward_traffic, work.backward_traffic}
                                                     : passes.memory_traffic(op, work, shard.formats);
  if (op.kind == OpKind::cross_entropy) return {kernels.loss(traffic.forward), kernels.loss(traffic.backward)};
  if (permutes_tokens(op.kind)) return {kernels.routing(traffic.forward), kernels.routing(traffic.backward)};
  return {kernels.memory_forward(op.kind, traffic.forward), kernels.memory_backward(op.kind, traffic.backward)};
}

ProductTimes convolution_times(const KernelClock& kernels, const OpWork& work, NumberFormat format) {
  const MatrixProduct& p = *work.product;
  const ConvolutionWork& c = *work.convolution;
  ProductTimes times{kernels.convolution(p, c.covered + c.weight + c.output, format)};
  if (work.backward_input.value() > 0)
    times.input_gradient = kernels.convolution(c.input_gradient, c.output + c.weight + c.input, format);
  if (work.backward_weight.value() > 0)
    times.weight_gradient = kernels.convolution({p.batch, p.k, p.n, p.m}, c.covered + c.output + c.weight, format);
  return times;
}

ProductTimes product_times(const KernelClock& kernels, const OpWork& work, NumberFormat format, const Shard& shard) {
  if (work.convolution) return convolution_times(kernels, work, format);
  const bool grouped = work.kind == WorkKind::grouped_product;
  const auto time = [&, scaling = shard.formats.scaling](const MatrixProduct& p) {
    if (!grouped) return kernels.product(p, format, scaling);
    return imbalance(kernels, shard) * kernels.grouped_product(p, format, scaling);
  };
  const MatrixProduct& p = *work.product;
  ProductTimes times{time(p)};
  if (work.backward_input.value() > 0) times.input_gradient = time({p.batch, p.m, p.k, p.n});
  if (work.backward_weight.value() > 0) times.weight_gradient = time({p.batch, p.k, p.n, p.m});
  return times;
}

}  // namespace

void BlockPricer::add_op(Times& times, const Block& block, const Op& op, const Shard& shard) const {
  const OpWork work = op_work(block, op, shard);
  const NumberFormat format = product_format(block, op, shard);
  const bool any_gradient = work.needs.input || work.needs.weight;
  add_launches(times, block, op, work, format, shard);
  switch (work.kind) {
    case WorkKind::product:
    case WorkKind::grouped_product: {
      const ProductTimes products = runs_by_chunks(block, op, work, kernels_.calibration().stack.features)
                                        ? ProductTimes{chunked_head_time(kernels_, work, format, shard)}
                                        : product_times(kernels_, work, format, shard);
      times.forward += products.forward;
      times.backward += products.input_gradient;
      times.add_weight_gradient(products.weight_gradient);
      times.backward += kernels_.memory(passes_.gradient_sums(op, work, shard.formats.activation));
      const PassTimes experts = expert_times(kernels_, passes_, op, work, format, shard.formats.activation);
      times.forward += experts.forward;
      times.backward += experts.backward;
      const CastTimes casts = cast_times(kernels_, work, format, shard);
      times.forward += casts.weights.forward + casts.operands.forward;
      times.add_weight_gradient(casts.weights.backward);
      times.backward += casts.operands.backward;
      break;
    }
    case WorkKind::attention: {
      const NumberFormat activations = shard.formats.activation;
      const Seconds forward = kernels_.attention_forward(*work.attention, shard.flash_attention, activations);
      times.forward += forward;
      times.attention += forward;
      if (any_gradient)
        times.backward += kernels_.attention_backward(*work.attention, shard.flash_attention, activations);
      const Seconds repeating = kernels_.memory(passes_.repeated_heads(*work.attention, activations));
      times.forward += repeating;
      if (any_gradient) times.backward += repeating;
      break;
    }
    case WorkKind::delta_rule:
      times.forward += kernels_.delta_rule_forward(work, shard.formats.activation);
      if (any_gradient) times.backward += kernels_.delta_rule_backward(work, shard.formats.activation);
      break;
    case WorkKind::memory: {
      const PassTimes passes = memory_times(kernels_, passes_, block, op, work, shard);
      times.forward += passes.forward;
      if (!any_gradient) break;
      // A kernel that makes both gradients runs where the input gradient is due.
      if (work.needs.input)
        times.backward += passes.backward;
      else
        times.add_weight_gradient(passes.backward);
      break;
    }
  }
}

void BlockPricer::add_launches(Times& times, const Block& block, const Op& op, const OpWork& work, NumberFormat format,
                               const Shard& shard) const {
  if (joined_passes(block, op, kernels_.calibration().stack.features)) return;
  const CastKernels casts = cast_kernels(format, shard.formats.scaling, shard.kept.product_inputs);
  const Launches of_op = launches(op, work, casts, shard.flash_attention, kernels_.calibration().stack);
  times.kernels +=
      runs_by_chunks(block, op, work, kernels_.calibration().stack.features)
          ? Launches{static_cast<double>(chunked_head(*work.product).chunks) * (of_op.forward + of_op.backward)}
          : of_op;
  const bool is_product = work.kind == WorkKind::product || work.kind == WorkKind::grouped_product;
  const StackFeatures& features = kernels_.calibration().stack.features;
  if (is_product && casts_itself(features, shard.formats))
    times.kernels += cast_launches(block, op, work, features.mixed_precision);
  if (work.kind == WorkKind::attention) times.attention_kernels += of_op.forward;
}

}  // namespace plumbline
