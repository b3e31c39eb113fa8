#pragma once
/// \file campaign.h: many random plans held against all laws: how often each law was asked, and what broke it.
///
/// The same seed and range of cases find the same, on any number of threads.

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>

#include "tests/campaign/law.h"

namespace plumbline {

struct CampaignRange {
  std::uint64_t seed = 1;
  std::int64_t first = 0;  ///< case
  std::int64_t cases = 1000;
  std::int32_t threads = 1;
  std::string law;                          ///< only this one, on every case; empty: all
  std::filesystem::path folder;             ///< for files of broken cases; empty: none are written
  const std::atomic<bool>* stop = nullptr;  ///< once true, no further case begins
};

struct BrokenCase {
  std::int64_t index = 0;
  std::string what;
  std::string command;
  std::string repeat;  ///< the command that asks this law of this case again
};

/// What one entry of known_violations() covered.
struct KnownTally {
  std::int64_t count = 0;
  double largest_excess = 0;
  BrokenCase largest;
};

struct LawTally {
  std::int64_t held = 0;
  std::int64_t known = 0;  ///< broken, and covered by a known violation
  std::int64_t broken = 0;
  double seconds = 0;             ///< of all threads: what the law costs
  std::vector<BrokenCase> first;  ///< the first few of the broken ones
};

struct CampaignResult {
  std::int64_t cases = 0;    ///< begun and ended: without gaps from the first on
  std::int64_t refused = 0;  ///< of them, steps of more than 24 hours, which `plan estimate` refuses
  std::map<std::string, LawTally, std::less<>> laws;
  std::vector<KnownTally> known;  ///< by entry of known_violations()
  [[nodiscard]] std::int64_t checks() const;
  [[nodiscard]] std::int64_t broken() const;
};

/// `progress`: called now and then with the number of cases that are done, from one thread at a time.
[[nodiscard]] CampaignResult run_campaign(const CampaignRange& range,
                                          const std::function<void(std::int64_t done)>& progress = {});
/// A line for each law and each known violation, then the broken cases with their commands; of one case alone also what
/// is known.
[[nodiscard]] std::string report(const CampaignResult& result);

}  // namespace plumbline
