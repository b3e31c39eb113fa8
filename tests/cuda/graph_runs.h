#pragma once
/// \file graph_runs.h: runs on the CUDA device that the CPU carries out, whose steps may be graphs.

#include "runtime/cuda/cuda_device.h"
#include "tests/cuda/late_kernels.h"
#include "tests/execution_checks.h"

namespace plumbline {

using MakeDevice = std::unique_ptr<ComputeDevice> (*)();

[[nodiscard]] inline std::unique_ptr<ComputeDevice> late_device() {
  return std::make_unique<CudaDevice>(0, late_kernels());
}

[[nodiscard]] inline RunOptions on_cuda(RunOptions options, StepLaunch launch, unsigned seed,
                                        MakeDevice make = late_device) {
  (void)cudaDeviceReset();
  cuda_on_cpu::set_seed(seed);
  options.device.make = [make](std::int32_t) { return make(); };
  options.device.backend = ComputeBackend::cuda;
  options.device.launch = launch;
  return options;
}

}  // namespace plumbline
