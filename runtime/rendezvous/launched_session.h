#pragma once
/// \file launched_session.h: this process as one rank of a launch whose groups a library makes.
///
/// Model: the launcher says which rank it is; the rendezvous tells the others why one ends, or that it was killed. Not
/// modelled: what the others were doing. Checked against: tests/cuda/nccl_processes_test.py.

#include "runtime/communication/process_session.h"
#include "runtime/mpi/launch_place.h"
#include "runtime/rendezvous/rendezvous.h"

namespace plumbline {

class LaunchedSession : public ProcessSession {
 public:
  using MakeGroups = std::function<std::shared_ptr<GroupMaker>(std::int32_t rank, std::int32_t ranks, Rendezvous&)>;

  LaunchedSession(LaunchPlace place, std::int32_t ranks_on_host, Rendezvous& rendezvous, MakeGroups groups)
      : place_(std::move(place)), ranks_on_host_(ranks_on_host), rendezvous_(rendezvous), groups_(std::move(groups)) {}

  [[nodiscard]] std::int32_t rank() const override { return place_.rank; }
  [[nodiscard]] std::int32_t size() const override { return place_.ranks; }
  [[nodiscard]] std::int32_t ranks_on_host() const override { return ranks_on_host_; }
  void report_action(std::int32_t) override {}
  [[nodiscard]] std::vector<PeerStatus> peer_status() const override { return {}; }
  void run(const std::function<void(World&)>& body) override;

 private:
  LaunchPlace place_;
  std::int32_t ranks_on_host_;
  Rendezvous& rendezvous_;
  MakeGroups groups_;
};

}  // namespace plumbline
