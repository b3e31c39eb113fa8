#include "runtime/execution/rank_environment.h"

#include <algorithm>

#include "runtime/execution/rotary_frequencies.h"

namespace plumbline {

void RankEnvironment::tensor_all_reduce(std::span<std::byte> data, NumberFormat format, Reduction reduction) {
  if (shard.tensor_parallel == 1) return;
  Communicator& group = groups[Axis::tensor];
  const ElementFormat elements = element_format(format);
  const std::int64_t parts = shard.tensor_parallel * element_bytes(elements);
  const Bytes padded(divided(std::ssize(data), parts) * parts);
  if (padded.value() == std::ssize(data))
    return device.enqueue(Stream::tensor, [=, &group] { group.all_reduce(data, elements, reduction); });
  const std::span<std::byte> whole(static_cast<std::byte*>(backend.workspace(padded, ScratchUse::collective).data),
                                   static_cast<std::size_t>(padded.value()));
  const Bytes size(std::ssize(data));
  device.copy(Stream::tensor, whole.data(), data.data(), size);
  device.fill(Stream::tensor, whole.data() + data.size(), std::byte{0}, padded - size);
  device.enqueue(Stream::tensor, [=, &group] { group.all_reduce(whole, elements, reduction); });
  device.copy(Stream::tensor, data.data(), whole.data(), size);
}

void RankEnvironment::tensor_all_gather(std::span<const std::byte> own, std::span<std::byte> all, NumberFormat format) {
  if (shard.tensor_parallel == 1) return;
  device.enqueue(Stream::tensor,
                 [=, &group = groups[Axis::tensor]] { group.all_gather(own, all, element_format(format)); });
}

void RankEnvironment::tensor_reduce_scatter(std::span<const std::byte> data, std::span<std::byte> own,
                                            NumberFormat format) {
  if (shard.tensor_parallel == 1) return;
  device.enqueue(Stream::tensor, [=, &group = groups[Axis::tensor]] {
    group.reduce_scatter(data, own, element_format(format), Reduction::sum);
  });
}

void RankEnvironment::reserve_ids() { ids_ = static_cast<std::int32_t*>(backend.reserve(tokens.bytes())); }

void RankEnvironment::prepare_as(const RankEnvironment& rehearsed) {
  for (const auto& [rotary_dim, held] : rehearsed.frequencies_) (void)frequencies(rotary_dim);
  route_tables.prepare_as(rehearsed.route_tables);
  host.prepare_as(rehearsed.host);
}

void RankEnvironment::fetch_batch(std::int32_t micro_batch) {
  batch.tokens = ids_;
  batch.targets = ids_ + shard.lengths.batch * local_sequence();
  device.fetch(Stream::compute, ids_, tokens.of(micro_batch), tokens.bytes());
}

const float* RankEnvironment::frequencies(std::int64_t rotary_dim) {
  float*& held = frequencies_[rotary_dim];
  if (held != nullptr) return held;
  const std::vector<float> made = rotary_frequencies(constants.rotary, rotary_dim);
  const Bytes bytes(static_cast<std::int64_t>(made.size() * sizeof(float)));
  held = static_cast<float*>(backend.reserve(bytes));
  device.upload(Stream::compute, held, made.data(), bytes);
  return held;
}

}  // namespace plumbline
