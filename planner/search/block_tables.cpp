#include "planner/search/block_tables.h"

#include "planner/search/parallel.h"

namespace plumbline {

std::vector<std::shared_ptr<const BlockTable>> BlockTables::of(const Question& question,
                                                               const std::vector<Strategy>& samples,
                                                               std::int32_t threads, const StopRequest& stop) {
  std::vector<const Strategy*> missing;
  for (const Strategy& sample : samples)
    if (!known_.contains(key_of(sample))) missing.push_back(&sample);
  std::vector<std::shared_ptr<const BlockTable>> priced(missing.size());
  const bool done = parallel_for(
      missing.size(), threads,
      [&](std::size_t i) { priced[i] = std::make_shared<const BlockTable>(bare_block_costs(question, *missing[i])); },
      stop);
  if (!done) return {};
  for (std::size_t i = 0; i < missing.size(); ++i) known_.emplace(key_of(*missing[i]), std::move(priced[i]));
  std::vector<std::shared_ptr<const BlockTable>> tables;
  tables.reserve(samples.size());
  for (const Strategy& sample : samples) tables.push_back(known_.at(key_of(sample)));
  return tables;
}

}  // namespace plumbline
