#pragma once
/// \file host_staging.h: page-locked memory through which bytes of the host go to a device without a wait.
///
/// Model: a copy from memory that is not page-locked would wait for its stream, so bytes are copied here first. A piece
/// is used again once its copy is done. Source: CUDA Runtime API, "API synchronization behavior". Not modelled: a
/// limit. Checked against: tests/cuda/cuda_device_test.cpp.

#include <deque>
#include <memory>

#include "core/quantity/quantity.h"
#include "runtime/cuda/cuda_event.h"

namespace plumbline {

class HostStaging {
 public:
  /// Copies `bytes` to the device's memory in the order of `stream`; `from` may change when the call returns.
  void upload(cudaStream_t stream, void* to, const void* from, Bytes bytes);

 private:
  struct Piece {
    std::shared_ptr<std::byte> memory;
    Bytes size{0};
    CudaEvent copied;
  };
  [[nodiscard]] Piece& free_piece(Bytes bytes);

  std::deque<Piece> pieces_;
};

/// Page-locked memory.
[[nodiscard]] std::shared_ptr<std::byte> page_locked(Bytes bytes);

}  // namespace plumbline
