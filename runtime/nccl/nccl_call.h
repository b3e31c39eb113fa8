#pragma once
/// \file nccl_call.h: one call of a group: its stream, where its operands lie on the device, and what follows it.
///
/// Model: operands in the host's memory are copied to scratch memory of the device before the call, and results back
/// behind it; the host then waits. Checked against: tests/cuda/nccl_communicator_test.cpp.

#include "runtime/nccl/nccl_communicator.h"

namespace plumbline {

class NcclCommunicator::Call {
 public:
  /// `room`: bytes of all operands, where they lie on the host.
  Call(NcclCommunicator& owner, Collective kind, std::size_t room);
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  [[nodiscard]] cudaStream_t stream() const { return stream_; }
  [[nodiscard]] const CallSite& site() const { return site_; }
  [[nodiscard]] bool is_on_device() const { return is_on_device_; }
  [[nodiscard]] const std::byte* input(std::span<const std::byte> data);
  [[nodiscard]] std::byte* output(std::span<std::byte> data);
  [[nodiscard]] std::byte* in_place(std::span<std::byte> data);
  /// Between operands, on the device.
  void copy(const std::byte* from, std::byte* to, std::size_t bytes) const;
  void count(std::size_t bytes_sent);
  /// Behind the last call of NCCL's.
  void finish();

 private:
  [[nodiscard]] std::byte* room_for(std::size_t bytes);

  NcclCommunicator& owner_;
  CallSite site_;
  bool is_on_device_;
  cudaStream_t stream_;
  std::size_t used_ = 0;  ///< of the scratch memory
  struct Result {
    std::span<std::byte> to;
    const std::byte* from = nullptr;
  };
  std::vector<Result> results_;
};

}  // namespace plumbline
