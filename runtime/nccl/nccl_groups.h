#pragma once
/// \file nccl_groups.h: the groups of one rank, whose collectives are NCCL's.
///
/// Answers: communicators (nccl_communicator.h). Model: every group has a communicator of NCCL's own, and every
/// neighbour that it sends messages to one for each direction. All are made when the group is, in an order that is the
/// same on all ranks, so that no two ranks wait for each other; groups of one rank share one. Unique ids are published
/// by a group's first rank. Memory that NCCL takes is no plan's. Source: NCCL user guide 2.28, "Creating a
/// communicator"; docs/decisions/0056-nccl.md. Not modelled: communicators that are split off others. Checked against:
/// tests/cuda/nccl_communicator_test.cpp, tests/cuda/nccl_training_test.cpp.

#include "runtime/communication/group_maker.h"
#include "runtime/nccl/nccl_channel.h"

namespace plumbline {

/// What the communicators of one rank share.
struct NcclRank {
  NcclRank(std::int32_t of_rank, Rendezvous& at, const NcclOptions& with)
      : rank(of_rank), rendezvous(at), options(with), watch(of_rank, at, with) {}

  /// At least so much, of the host lane alone; what it holds is lost. Idle then.
  void reserve_scratch(std::size_t bytes);

  std::int32_t rank;
  Rendezvous& rendezvous;
  NcclOptions options;
  NcclWatch watch;
  CudaLane host_lane;    ///< of calls on the host's memory
  DeviceMemory scratch;  ///< of the same
  std::size_t scratch_size = 0;
};

/// Used by the rank's thread, which has made its device; that outlives it.
class NcclGroups : public GroupMaker {
 public:
  NcclGroups(std::int32_t rank, Rendezvous& rendezvous, const NcclOptions& options = {});
  ~NcclGroups() override;

  [[nodiscard]] std::int32_t own_rank() const override { return rank_; }
  [[nodiscard]] std::unique_ptr<Communicator> communicator(RankSet set, Messages messages) override;
  void abandon(const std::string& failure) override;
  void report_action(std::int32_t action) override;

 private:
  [[nodiscard]] std::shared_ptr<NcclComm> comm(const std::vector<std::int32_t>& ranks, const std::string& key,
                                               const std::string& purpose);

  std::int32_t rank_;
  Rendezvous& rendezvous_;
  NcclOptions options_;
  std::shared_ptr<NcclRank> shared_;  ///< made with the first group, when the thread has its device
  std::shared_ptr<NcclComm> alone_;
  std::map<std::uint64_t, std::int32_t> made_;  ///< groups by their first key
};

}  // namespace plumbline
