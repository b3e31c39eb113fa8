#include "planner/search/block_tables.h"

#include <set>

#include "planner/search/parallel.h"

namespace plumbline {

/// False where it was stopped: then none of them is kept.
bool BlockTables::price(const Question& question, const std::vector<const Strategy*>& samples, std::int32_t threads,
                        const StopRequest& stop) {
  std::vector<std::shared_ptr<const BlockTable>> priced(samples.size());
  const bool done = parallel_for(
      samples.size(), threads,
      [&](std::size_t i) {
        const auto equivalent = equivalent_.find(key_without_experts(*samples[i]));
        priced[i] = std::make_shared<const BlockTable>(bare_block_costs(
            question, *samples[i], &programs_, equivalent == equivalent_.end() ? nullptr : equivalent->second.get()));
      },
      stop);
  if (!done) return false;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    equivalent_.emplace(key_without_experts(*samples[i]), priced[i]);
    known_.emplace(key_of(*samples[i]), std::move(priced[i]));
  }
  return true;
}

std::vector<std::shared_ptr<const BlockTable>> BlockTables::of(const Question& question,
                                                               const std::vector<Strategy>& samples,
                                                               std::int32_t threads, const StopRequest& stop) {
  std::vector<const Strategy*> first;  // of those that have the key without experts in common
  std::vector<const Strategy*> others;
  std::set<Key> seen;
  for (const Strategy& sample : samples) {
    if (known_.contains(key_of(sample))) continue;
    const Key key = key_without_experts(sample);
    (!equivalent_.contains(key) && seen.insert(key).second ? first : others).push_back(&sample);
  }
  if (!price(question, first, threads, stop) || !price(question, others, threads, stop)) return {};
  std::vector<std::shared_ptr<const BlockTable>> tables;
  tables.reserve(samples.size());
  for (const Strategy& sample : samples) tables.push_back(known_.at(key_of(sample)));
  return tables;
}

}  // namespace plumbline
