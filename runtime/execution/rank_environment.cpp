#include "runtime/execution/rank_environment.h"

#include "runtime/execution/rotary_frequencies.h"

namespace plumbline {

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
