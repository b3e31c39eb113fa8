#pragma once
/// \file nccl_comm.h: one communicator of NCCL's, that never blocks the host for longer than a deadline.
///
/// Model: it is made, and called, without blocking (configuration `blocking` 0): a call that is in progress is polled
/// until it is done, has failed, or its deadline has passed. Any thread may ask for its error or abort it meanwhile.
/// Errors: CommunicationError with NCCL's call and text, and what the communicator is for. Source: NCCL user guide
/// 2.28, "Fault tolerance", "Asynchronous errors". Checked against: tests/cuda/nccl_communicator_test.cpp.

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "runtime/nccl/nccl_api.h"

namespace plumbline {

class NcclComm {
 public:
  /// Returns once all ranks have made it. `who` and `purpose`, for errors: "rank 5", "group tensor of 4 ranks".
  struct Names {
    std::string who;
    std::string purpose;
  };
  /// `require_alive` throws when another rank has failed: asked while a call is in progress, its first one too.
  NcclComm(const nccl::UniqueId& id, int ranks, int rank, Names names, std::chrono::milliseconds deadline,
           std::function<void()> require_alive);
  NcclComm(const NcclComm&) = delete;
  NcclComm& operator=(const NcclComm&) = delete;
  ~NcclComm();

  /// `enqueue` calls NCCL; `name`: what errors call it.
  void call(const char* name, const std::function<nccl::Result(nccl::Comm)>& enqueue);
  /// Several calls as one.
  void group(const char* name, const std::function<void(const NcclComm&)>& enqueue);
  /// Inside of `group`.
  void inside(const char* name, nccl::Result result) const;
  [[nodiscard]] nccl::Comm get() const { return comm_; }

  /// Of work that runs; none: all is well.
  [[nodiscard]] std::optional<std::string> asynchronous_error();
  /// Ends what runs; later calls throw.
  void abort() noexcept;

 private:
  [[noreturn]] void fail(const std::string& text) const;
  void settle(const char* name, nccl::Result result, std::unique_lock<std::mutex>& lock);
  void require_open() const;

  const nccl::Api& api_;
  Names names_;
  std::chrono::milliseconds deadline_;
  std::function<void()> require_alive_;
  std::mutex mutex_;
  nccl::Comm comm_ = nullptr;
  bool is_aborted_ = false;
};

}  // namespace plumbline
