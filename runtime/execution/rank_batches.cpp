#include "runtime/execution/rank_batches.h"

namespace plumbline {

RankBatches::RankBatches(const Strategy& strategy, const RankShare& share, RankDevice& device)
    : strategy_(strategy),
      share_(share),
      device_(device.lanes),
      tokens_(device.lanes, strategy.micro_batches, share.local_tokens()),
      ids_(static_cast<std::int32_t*>(device.memory.reserve(tokens_.bytes()))) {}

void RankBatches::begin_step(const BatchSource& source) {
  source_ = source;
  tokens_.begin_step();
}

FirstRead RankBatches::first_read(std::int32_t micro_batch) const {
  const std::int64_t ranks = strategy_.data_parallel;
  return {(micro_batch * ranks + share_.groups.index(Axis::data)) * strategy_.micro_batch, share_.first_position()};
}

void RankBatches::put_all() {
  for (std::int32_t m = 0; m < static_cast<std::int32_t>(strategy_.micro_batches); ++m) put(m);
}

void RankBatches::load(std::int32_t micro_batch) {
  if (loaded_ == micro_batch) return;
  loaded_ = micro_batch;
  put(micro_batch);
  at_hand_ = {ids_, ids_ + share_.local_tokens(), first_read(micro_batch).sequence};
  device_.fetch(Stream::compute, ids_, tokens_.of(micro_batch), tokens_.bytes());
}

void RankBatches::put(std::int32_t micro_batch) {
  if (tokens_.has(micro_batch)) return;
  const BatchLayout layout{strategy_.data_parallel, share_.groups.index(Axis::data),
                           static_cast<std::int32_t>(strategy_.micro_batches),
                           static_cast<std::int32_t>(strategy_.micro_batch)};
  const TokenBatch batch = source_(layout, micro_batch);
  const FirstRead place = first_read(micro_batch);
  LocalIds ids;
  const std::int64_t length = share_.local_sequence();
  for (std::int64_t sequence = 0; sequence < strategy_.micro_batch; ++sequence) {
    const std::int64_t first = sequence * batch.length + place.token;
    const auto slice = [&](const std::vector<std::int32_t>& from, std::vector<std::int32_t>& to) {
      to.insert(to.end(), from.begin() + first, from.begin() + first + length);
    };
    slice(batch.tokens, ids.tokens);
    slice(batch.targets, ids.targets);
  }
  tokens_.put(micro_batch, ids);
}

}  // namespace plumbline
