// libplumbline-cuda.so: the CUDA device and its kernels, for a program that loads them when they are asked for.
#include "core/base/version.h"
#include "runtime/cuda/cuda_device.h"
#include "runtime/cuda/cuda_kernel_table.h"
#include "runtime/device/device_module.h"

namespace plumbline {
namespace {

void require_device() { (void)require_cuda_devices(); }

std::unique_ptr<ComputeDevice> make_device(std::int32_t local_rank) {
  return std::make_unique<CudaDevice>(local_rank, cuda_kernel_table());
}

}  // namespace
}  // namespace plumbline

extern "C" __attribute__((visibility("default"))) const plumbline::DeviceModule* plumbline_device_module() {
  static const std::string version(plumbline::program_version());
  static const plumbline::DeviceModule module{version.c_str(), sizeof(plumbline::DeviceKernels),
                                              plumbline::require_device, plumbline::make_device};
  return &module;
}
