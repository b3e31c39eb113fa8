#pragma once
/// \file nccl_channel.h: messages from one rank to another, in one direction, on a stream of their own.
///
/// Model: both ranks have a communicator of two for it, so that messages of other directions never stand before theirs.
/// What is sent is copied to memory of the sender's on the stream that made it, and leaves from there: that stream goes
/// on at once. What is received is written where it is asked for, and the asking stream waits. Messages are received in
/// the order in which they were sent: NCCL knows no tags (runtime/run/capability_check.h refuses programs of another
/// order). Source: NCCL user guide 2.28, "Point-to-point communication". Not modelled: a limit on what is on its way.
/// Checked against: tests/cuda/nccl_communicator_test.cpp.

#include <deque>
#include <span>

#include "runtime/cuda/cuda_lane.h"
#include "runtime/device/compute_device.h"
#include "runtime/nccl/nccl_watch.h"

namespace plumbline {

class NcclChannel {
 public:
  enum class Side : std::uint8_t { sends, receives };

  /// Sends a byte, so that later messages find a connection and wait for nobody's host.
  NcclChannel(std::shared_ptr<NcclComm> comm, Side side, NcclWatch& watch, const CallSite& site);

  /// Work of `stream`.
  void send(std::span<const std::byte> data, cudaStream_t stream, const CallSite& site);
  void receive(std::span<std::byte> data, cudaStream_t stream, const CallSite& site);

 private:
  struct Piece {
    DeviceMemory memory;
    std::size_t size = 0;
    CudaEvent written;
    CudaEvent sent;
  };
  [[nodiscard]] Piece& piece(std::size_t bytes);

  std::shared_ptr<NcclComm> comm_;
  NcclWatch& watch_;
  CudaLane lane_;
  CudaEvent asked_;     ///< when the receiver's memory may be written
  CudaEvent received_;  ///< when it is
  std::deque<Piece> pieces_;
};

}  // namespace plumbline
