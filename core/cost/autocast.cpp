#include "core/cost/autocast.h"

#include <algorithm>
#include <cmath>

namespace plumbline {
namespace {

bool writes_residuals(OpKind kind) { return kind == OpKind::add || is_lookup(kind); }

void put_into_32_bits(Tensor& tensor) {
  if (tensor.element == ElementKind::compute) tensor.element = ElementKind::fp32;
}

/// In passes over a 16-bit tensor.
constexpr PassCounts of_norm{2 + 2 + 3, 3 + 6 + 4};
constexpr PassCounts of_sum{2 + 1 + 2, 3 + 6};
constexpr PassCounts of_joined_norm{2 + 1, 1 + 2 + 2};
constexpr PassCounts of_joined_sum{2 + 1 + 2, 6};
/// A norm's result counts in the 16 bits to which it is cast; a sum's in 32.
constexpr std::int64_t passes_of_a_norms_result = 1;
constexpr std::int64_t passes_of_a_sums_result = 2;

Bytes times(std::int64_t passes, std::int64_t counted, Bytes bytes) {
  return Bytes(
      std::llround(static_cast<double>(passes) / static_cast<double>(counted) * static_cast<double>(bytes.value())));
}

/// 32 bits read and 16 written, or the other way round.
constexpr std::int64_t bytes_of_a_cast = 4 + 2;

bool reads_a_norm(const Block& block, const Op& op) {
  const OpId producer = block.producer(op.inputs.front());
  return producer.is_valid() && is_token_norm(block.op(producer).kind);
}

}  // namespace

bool casts_itself(const StackFeatures& features, const PrecisionFormats& formats) {
  return features.mixed_precision != MixedPrecision::of_weights && formats.master && bits(formats.activation) == 16;
}

bool has_image_residuals(const Block& block) {
  return std::any_of(block.ops().begin(), block.ops().end(),
                     [](const Op& op) { return op.kind == OpKind::batch_norm || op.kind == OpKind::pooling; });
}

Block with_32_bit_residuals(const Block& block) {
  if (has_image_residuals(block)) return block;
  Block::Parts parts = block.parts();
  const auto put = [&](TensorId id) { put_into_32_bits(parts.tensors[static_cast<std::size_t>(id.index())]); };
  for (const TensorId input : parts.inputs) put(input);
  for (const Op& op : parts.ops)
    if (writes_residuals(op.kind))
      for (const TensorId output : op.outputs) put(output);
  return Block(std::move(parts));
}

Block as_run(const Block& block, const Shard& shard, const StackFeatures& features) {
  return casts_itself(features, shard.formats) ? with_32_bit_residuals(block) : block;
}

Traffic autocast_traffic(const Op& op, const OpWork& work, MixedPrecision how) {
  const bool joins = how == MixedPrecision::by_compiled_autocast;
  const auto scaled = [&](const PassCounts& own, std::int64_t result) {
    const PassCounts& counted = record_of(op.kind).moved;
    return Traffic{times(own.forward, result * counted.forward, work.forward_traffic),
                   times(own.backward, result * counted.backward, work.backward_traffic)};
  };
  if (is_token_norm(op.kind)) return scaled(joins ? of_joined_norm : of_norm, passes_of_a_norms_result);
  if (op.kind == OpKind::add) return scaled(joins ? of_joined_sum : of_sum, passes_of_a_sums_result);
  return {work.forward_traffic, work.backward_traffic};
}

Traffic weight_casts(const OpWork& work) {
  const MatrixProduct& p = *work.product;
  const Bytes all(bytes_of_a_cast * p.batch * p.k * p.n);
  return {all, work.needs.weight ? all : Bytes(0)};
}

Launches cast_launches(const Block& block, const Op& op, const OpWork& work, MixedPrecision how) {
  const double parameters = static_cast<double>(op.parameters.size()) / static_cast<double>(op.outputs.size());
  const double input = how == MixedPrecision::by_autocast && reads_a_norm(block, op) ? 1 : 0;
  const double weights = work.needs.weight ? parameters : 0;
  return {parameters + input, weights + (work.needs.input ? input : 0), weights};
}

}  // namespace plumbline
