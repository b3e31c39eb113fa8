#include "runtime/nccl/nccl_groups.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "runtime/cuda/current_lane.h"
#include "runtime/cuda/device_memory.h"
#include "runtime/nccl/nccl_communicator.h"
#include "runtime/nccl/nccl_connect.h"

namespace plumbline {
namespace {

/// One direction between two members of a group, by index.
struct Way {
  std::int32_t from = 0;
  std::int32_t to = 0;
  std::int32_t direction = 0;
  auto operator<=>(const Way&) const = default;
};

/// In the order in which all ranks make them.
std::set<Way> ways(Messages messages, std::int32_t ranks) {
  std::set<Way> all;
  if (messages == Messages::any || messages == Messages::each || ranks == 1) return all;
  for (std::int32_t i = 0; i < ranks; ++i) {
    const std::int32_t next = (i + 1) % ranks;
    all.insert({i, next, 0});
    if (messages == Messages::ring) continue;
    all.insert({i, next, 1});
    all.insert({next, i, 0});
    all.insert({next, i, 1});
  }
  return all;
}

std::string hexadecimal(std::uint64_t value) {
  constexpr const char* digits = "0123456789abcdef";
  std::string text;
  for (int shift = 60; shift >= 0; shift -= 4) text += digits[value >> shift & 15];
  return text;
}

Value bytes_of(const nccl::UniqueId& id) {
  Value bytes(sizeof id);
  std::memcpy(bytes.data(), &id, sizeof id);
  return bytes;
}

}  // namespace

void NcclRank::reserve_scratch(std::size_t bytes) {
  if (bytes <= scratch_size) return;
  scratch = nullptr;
  scratch_size = 0;
  scratch = reserve_device_memory(Bytes(static_cast<std::int64_t>(bytes)), MemoryUse::communication);
  scratch_size = bytes;
}

NcclGroups::NcclGroups(std::int32_t rank, Rendezvous& rendezvous, const NcclOptions& options)
    : rank_(rank), rendezvous_(rendezvous), options_(options) {
  (void)nccl::api();  // a missing library is said before anything else
}

NcclGroups::~NcclGroups() {
  if (shared_ != nullptr) set_thread_check({});
}

void NcclGroups::abandon(const std::string& failure) {
  rendezvous_.report_failure(failure);
  if (shared_ != nullptr) shared_->watch.fail(failure);
}

void NcclGroups::report_action(std::int32_t action) {
  if (shared_ != nullptr) shared_->watch.report_action(action);
}

std::shared_ptr<NcclComm> NcclGroups::comm(const std::vector<std::int32_t>& ranks, const std::string& key,
                                           const std::string& purpose) {
  nccl::UniqueId id;
  if (ranks.front() == rank_) {
    const nccl::Result result = nccl::api().get_unique_id(&id);
    if (result != nccl::Result::success)
      throw CommunicationError("rank " + std::to_string(rank_) + ": " +
                               nccl::failure_text(nccl::api(), "ncclGetUniqueId", result, nullptr));
    if (ranks.size() > 1) rendezvous_.publish(key, bytes_of(id));
  } else {
    const Value published = rendezvous_.wait_for(key, options_.deadline);
    check(published.size() == sizeof id, "what a group's first rank publishes is a unique id");
    std::memcpy(&id, published.data(), sizeof id);
  }
  const auto own = std::find(ranks.begin(), ranks.end(), rank_);
  auto made = std::make_shared<NcclComm>(id, static_cast<int>(ranks.size()), static_cast<int>(own - ranks.begin()),
                                         NcclComm::Names{"rank " + std::to_string(rank_), purpose}, options_.deadline,
                                         [watch = &shared_->watch] { watch->require_alive(); });
  shared_->watch.add(made);
  return made;
}

std::unique_ptr<Communicator> NcclGroups::communicator(RankSet set, Messages messages) {
  const MeasuredUse measured(MemoryUse::communication);
  if (shared_ == nullptr) {
    shared_ = std::make_shared<NcclRank>(rank_, rendezvous_, options_);
    set_thread_check([watch = &shared_->watch] { watch->require_alive(); });
  }
  const auto own = std::find(set.ranks.begin(), set.ranks.end(), rank_);
  check(own != set.ranks.end(), "a rank makes communicators of its own groups only");
  const auto index = static_cast<std::int32_t>(own - set.ranks.begin());
  const std::string purpose = "group " + set.name + " of " + std::to_string(set.size()) + " ranks";
  if (set.size() == 1) {
    if (alone_ == nullptr) alone_ = comm(set.ranks, "", "groups of one rank");
    return std::make_unique<NcclCommunicator>(shared_, alone_, NcclChannels{}, std::move(set), index);
  }
  const std::string key = hexadecimal(group_key(set, made_[group_key(set, 0)]++));
  const auto whole = comm(set.ranks, key, purpose);
  connect_ranks(*whole, {set.name, set.size(), index, messages}, *shared_, options_.connected_by);
  NcclChannels channels;
  for (const Way& way : ways(messages, set.size())) {
    if (way.from != index && way.to != index) continue;
    const std::int32_t from = set.ranks[static_cast<std::size_t>(way.from)];
    const std::int32_t to = set.ranks[static_cast<std::size_t>(way.to)];
    const std::string name = std::to_string(from) + "-" + std::to_string(to) + "-" + std::to_string(way.direction);
    const bool sends = way.from == index;
    // The sender is the first of the two, whatever its number.
    auto pair =
        comm({from, to}, key + "-" + name,
             "messages from rank " + std::to_string(from) + " to rank " + std::to_string(to) + " in " + purpose);
    channels[{way.from, way.to, way.direction}] =
        std::make_unique<NcclChannel>(std::move(pair), sends ? NcclChannel::Side::sends : NcclChannel::Side::receives,
                                      shared_->watch, CallSite{set.name, Collective::send_receive, 0});
  }
  return std::make_unique<NcclCommunicator>(shared_, whole, std::move(channels), std::move(set), index);
}

}  // namespace plumbline
