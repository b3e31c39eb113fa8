#pragma once
/// \file exchange_communicator.h: collectives made of messages: the same order, bits and bytes over any wire.
///
/// Model: reduce-scatter hands each chunk straight to its owner, who sums in ascending rank order; all-gather hands the
/// chunks round the ring; all-reduce is one after the other; broadcast goes down the chain from the root; a barrier is
/// log2(n) rounds of empty messages. A rank's bytes are counted when a chunk is posted to another rank.
/// Source: "dissemination barrier", Hensgen, Finkel and Manber (1988); docs/decisions/0012-sums-in-rank-order.md.
/// Not modelled: overlap of a collective's own steps; trees. Broadcast's last rank sends nothing, which the formula of
/// core/sharding/collective.h, one number for all ranks, cannot say.
/// Checked against: tests/runtime/communication/local_communicator_threads_test.cpp.

#include <memory>

#include "runtime/communication/wire.h"

namespace plumbline {

class ExchangeCommunicator : public Communicator {
 public:
  /// `wire`'s own rank is one of `set`.
  ExchangeCommunicator(std::shared_ptr<Wire> wire, RankSet set, std::int32_t instance);

  [[nodiscard]] const RankSet& rank_set() const override { return set_; }
  [[nodiscard]] std::int32_t index() const override { return index_; }
  [[nodiscard]] const SentByKind& sent() const override { return sent_; }

  void all_reduce(std::span<std::byte> data, ElementFormat format, Reduction reduction) override;
  void reduce_scatter(std::span<const std::byte> data, std::span<std::byte> own, ElementFormat format,
                      Reduction reduction) override;
  void all_gather(std::span<const std::byte> own, std::span<std::byte> all, ElementFormat format) override;
  void reduce_scatter(std::span<const std::byte> data, std::span<std::byte> own, std::span<const std::int64_t> counts,
                      ElementFormat format, Reduction reduction) override;
  void all_gather(std::span<const std::byte> own, std::span<std::byte> all, std::span<const std::int64_t> counts,
                  ElementFormat format) override;
  void all_to_all(std::span<const std::byte> data, std::span<const std::int64_t> send_counts,
                  std::span<std::byte> received, std::span<const std::int64_t> receive_counts,
                  ElementFormat format) override;
  void broadcast(std::span<std::byte> data, std::int32_t root) override;
  void send(std::span<const std::byte> data, std::int32_t to, std::int32_t tag) override;
  void receive(std::span<std::byte> data, std::int32_t from, std::int32_t tag) override;
  void barrier() override;

 private:
  class Call;

  std::shared_ptr<Wire> wire_;
  RankSet set_;
  std::int32_t index_ = -1;
  std::uint64_t key_;
  std::int64_t sequence_ = 0;
  SentByKind sent_;
};

}  // namespace plumbline
