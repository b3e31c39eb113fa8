#include "runtime/execution/replica_check.h"

#include <map>

#include "core/base/errors.h"

#define XXH_INLINE_ALL  // an installed Plumbline then asks for no library
#include <xxhash.h>

namespace plumbline {
namespace {

constexpr std::int32_t sums_tag = 0;

class Hash {
 public:
  Hash() { XXH64_reset(&state_, 0); }
  void add(std::span<const std::byte> data) {
    if (!data.empty()) XXH64_update(&state_, data.data(), data.size());
  }
  [[nodiscard]] std::uint64_t digest() const { return XXH64_digest(&state_); }

 private:
  XXH64_state_t state_{};
};

struct Hashes {
  std::int64_t unit = 0;
  Hash held;
  Hash values;
};

void add(Hashes& sums, const LocalParameter& p, ElementRange elements, std::span<const std::byte> data) {
  sums.unit = p.execution;
  sums.held.add(std::as_bytes(std::span(p.name)));
  const auto& [whole, begin, extent] = p.box;
  const std::array place{begin[0], begin[1], begin[2], extent[0], extent[1], extent[2], elements.first, elements.count};
  sums.held.add(std::as_bytes(std::span(place)));
  sums.values.add(data);
}

std::string listed(const std::vector<std::size_t>& ranks) {
  constexpr std::size_t most = 8;
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < std::min(most, ranks.size()); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(ranks[i]);
  if (ranks.size() > most) text += " and " + std::to_string(ranks.size() - most) + " more";
  return text;
}

}  // namespace

std::vector<ReplicaSum> replica_sums(const ParameterStore& parameters) {
  // A section is one unit's; of what tensor parallelism does not divide more ranks hold copies.
  std::map<std::pair<std::int32_t, bool>, Hashes> groups;
  parameters.state.look([&](const LocalParameter& p, ElementRange elements, std::span<const std::byte> data) {
    add(groups[{p.section, p.is_replicated}], p, elements, data);
  });
  std::vector<ReplicaSum> sums;
  for (const auto& [group, hashes] : groups)
    sums.push_back({hashes.held.digest(), hashes.values.digest(), hashes.unit});
  return sums;
}

std::string unequal_replicas(const std::vector<std::vector<ReplicaSum>>& of_ranks,
                             const std::vector<std::string>& unit_names) {
  struct First {
    std::size_t rank = 0;
    ReplicaSum sum;
  };
  std::map<std::uint64_t, First> first;
  std::map<std::uint64_t, std::vector<std::size_t>> others;
  for (std::size_t rank = 0; rank < of_ranks.size(); ++rank)
    for (const ReplicaSum& sum : of_ranks[rank]) {
      const auto [known, is_new] = first.try_emplace(sum.held, First{rank, sum});
      if (!is_new && known->second.sum.values != sum.values) others[sum.held].push_back(rank);
    }
  const First* worst = nullptr;  // of the first unit
  for (const auto& [held, ranks] : others)
    if (worst == nullptr || first.at(held).sum.unit < worst->sum.unit) worst = &first.at(held);
  if (worst == nullptr) return "";
  return unit_names[static_cast<std::size_t>(worst->sum.unit)] + " on " + listed(others.at(worst->sum.held)) +
         " is not what it is on rank " + std::to_string(worst->rank) + ", though they hold copies of it";
}

void require_equal_replicas(const ParameterStore& parameters, Communicator& everyone) {
  const std::vector<ReplicaSum> own = replica_sums(parameters);
  const auto ranks = static_cast<std::size_t>(everyone.rank_set().size());
  const std::int64_t count = std::ssize(own);
  std::vector<std::int64_t> counts(ranks);
  everyone.all_gather(std::as_bytes(std::span(&count, 1)), std::as_writable_bytes(std::span(counts)),
                      ElementFormat::bytes);
  if (everyone.index() != 0) {
    everyone.send(std::as_bytes(std::span(own)), 0, sums_tag);
  } else {
    std::vector<std::vector<ReplicaSum>> of_ranks{own};
    for (std::size_t rank = 1; rank < ranks; ++rank) {
      of_ranks.emplace_back(static_cast<std::size_t>(counts[rank]));
      everyone.receive(std::as_writable_bytes(std::span(of_ranks.back())), static_cast<std::int32_t>(rank), sums_tag);
    }
    const std::string unequal = unequal_replicas(of_ranks, parameters.layout().unit_names);
    if (!unequal.empty()) throw InternalError("replicas differ: " + unequal + "; the weights of this run are wrong");
  }
  everyone.barrier();
}

}  // namespace plumbline
