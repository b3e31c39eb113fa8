#pragma once
/// \file nccl_watch.h: sees that a rank's collectives do not run for ever, and ends all where one has failed.
///
/// Model: a thread looks every `interval` at the asynchronous errors of all communicators, at what the rendezvous says
/// of other ranks, and at what was given to streams: a call that is not done `deadline` after it was given out, though
/// its stream has come to it or not, has lost a rank. The first failure aborts all communicators, so that the streams
/// and the host go on; `require_alive` then throws it. Errors: CommunicationError with rank, call, group, and the
/// number of the action that gave it out. Checked against: tests/cuda/nccl_failures_test.cpp.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <list>
#include <thread>

#include "runtime/communication/wire.h"
#include "runtime/cuda/cuda_event.h"
#include "runtime/nccl/nccl_comm.h"
#include "runtime/rendezvous/rendezvous.h"

namespace plumbline {

struct NcclOptions {
  /// That a call may take, from when it is given out. Source: PyTorch's default for NCCL (torch.distributed,
  /// init_process_group: 10 minutes).
  std::chrono::milliseconds deadline{600'000};
  std::chrono::milliseconds interval{100};  ///< between two looks
  /// The larger of the two calls of each kind that a new group makes (nccl_connect.h).
  Bytes connected_by{std::int64_t{8} << 20};
};

class NcclWatch {
 public:
  NcclWatch(std::int32_t rank, Rendezvous& rendezvous, const NcclOptions& options);
  NcclWatch(const NcclWatch&) = delete;
  NcclWatch& operator=(const NcclWatch&) = delete;
  ~NcclWatch();

  void add(const std::shared_ptr<NcclComm>& comm);
  /// `stream` was given a call.
  void given(const CallSite& site, cudaStream_t stream);
  void report_action(std::int32_t action) { action_ = action; }
  /// Ends all communicators. The first failure stays.
  void fail(const std::string& text);
  /// Throws the failure, if there is one.
  void require_alive();

 private:
  struct Given {
    CudaEvent done;
    CallSite site;
    std::int32_t action = -1;
    Clock::time_point when;
  };
  void look_until_over();
  /// What is wrong, if anything.
  [[nodiscard]] std::optional<std::string> problem();
  [[nodiscard]] std::optional<std::string> overdue();

  std::int32_t rank_;
  Rendezvous& rendezvous_;
  NcclOptions options_;
  int device_ = 0;
  std::atomic<std::int32_t> action_ = -1;
  std::mutex mutex_;  ///< over all below
  std::condition_variable over_;
  bool is_over_ = false;
  std::optional<std::string> failure_;
  std::vector<std::weak_ptr<NcclComm>> comms_;
  std::list<Given> given_;
  std::list<Given> unused_;  ///< whose events are used again
  std::thread thread_;
};

}  // namespace plumbline
