#pragma once
/// \file nccl_communicator.h: a group's collectives as calls of NCCL, on streams.
///
/// Answers: runtime/communication/communicator.h. Model: inside of a lane's work a call is about the device's memory,
/// is given to that lane's stream, and returns before it is done; otherwise it is about the host's, which is copied to
/// the device and back, and the host waits. Equal parts are NCCL's own collectives; parts that differ are a group of
/// reduces or broadcasts, one for each owner, and an all-to-all is a group of sends. Bytes are counted as the rings and
/// hand-overs of exchange_communicator.h would send them; what NCCL sends depends on the algorithm that it chooses.
/// Sums: NCCL adds in the order of its algorithm, in the format itself for fp32 and through fp32 for each pair of
/// 16-bit numbers, rounding after each: not in rank order with one rounding (decision 0012), and not the same bits on
/// other numbers of ranks or other topologies. A maximum over NaNs is what NCCL makes of it. Errors:
/// CommunicationError. Source: NCCL user guide 2.28, "Collective operations". Not modelled: bytes inside of switches;
/// registered buffers. Checked against: tests/cuda/nccl_communicator_test.cpp (numbers and counted bytes of the local
/// ranks), tests/cuda/nccl_training_test.cpp.

#include <tuple>

#include "runtime/nccl/nccl_groups.h"

namespace plumbline {

/// By sender, receiver (indices in the group) and direction.
using NcclChannels = std::map<std::tuple<std::int32_t, std::int32_t, std::int32_t>, std::unique_ptr<NcclChannel>>;

class NcclCommunicator : public Communicator {
 public:
  NcclCommunicator(std::shared_ptr<NcclRank> shared, std::shared_ptr<NcclComm> comm, NcclChannels channels, RankSet set,
                   std::int32_t index);

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

  [[nodiscard]] NcclChannel* channel(std::int32_t from, std::int32_t to, std::int32_t tag) const;
  [[nodiscard]] std::vector<std::int64_t> equal_counts(std::size_t bytes, ElementFormat format) const;

  std::shared_ptr<NcclRank> shared_;
  std::shared_ptr<NcclComm> comm_;
  NcclChannels channels_;
  RankSet set_;
  std::int32_t index_;
  std::int64_t sequence_ = 0;
  SentByKind sent_;
};

}  // namespace plumbline
