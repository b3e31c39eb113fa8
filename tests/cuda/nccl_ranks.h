#pragma once
/// \file nccl_ranks.h: ranks as threads whose groups are the stand-in's (fake_nccl.h), each on a device of its own.

#include "runtime/cuda/cuda_device.h"
#include "runtime/local/local_ranks.h"
#include "runtime/nccl/nccl_groups.h"
#include "tests/cuda/fake_nccl.h"
#include "tests/cuda_on_cpu/control.h"

namespace plumbline {

/// A computer of eight devices, as it is started.
class NcclComputer {
 public:
  explicit NcclComputer(unsigned seed = 1) {
    cuda_on_cpu::set_device({.count = 8});
    (void)cudaDeviceReset();
    cuda_on_cpu::set_seed(seed);
    fake_nccl::reset();
  }
  NcclComputer(const NcclComputer&) = delete;
  NcclComputer& operator=(const NcclComputer&) = delete;
  ~NcclComputer() {
    cuda_on_cpu::set_device({});
    (void)cudaDeviceReset();
    fake_nccl::reset();
  }
};

/// `body` with a world of NCCL and the device of each rank.
inline void run_nccl_ranks(std::int32_t ranks, const DeviceKernels& table, NcclOptions options,
                           const std::function<void(World&, CudaDevice&)>& body) {
  options.connected_by = Bytes(1024);
  const auto rendezvous = std::make_shared<LocalRendezvous>();
  run_local_ranks(ranks, [&](World& threads) {
    CudaDevice device(threads.rank(), table);
    const auto groups = std::make_shared<NcclGroups>(threads.rank(), *rendezvous, options);
    World world(groups, ranks);
    try {
      body(world, device);
    } catch (const std::exception& error) {
      world.abandon("rank " + std::to_string(threads.rank()) + " has failed: " + error.what());
      throw;
    }
  });
}

}  // namespace plumbline
