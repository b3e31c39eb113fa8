// libplumbline-cuda.so: the CUDA device and its kernels, for a program that loads them when they are asked for.
#include "core/base/version.h"
#include "runtime/cuda/attention_kernels.h"
#include "runtime/cuda/cublaslt.h"
#include "runtime/cuda/cuda_device.h"
#include "runtime/cuda/cuda_kernel_table.h"
#include "runtime/cuda/cudnn_attention.h"
#include "runtime/cuda/refused_products.h"
#include "runtime/device/device_module.h"
#include "runtime/nccl/nccl_groups.h"

namespace plumbline {
namespace {

void require_device() { (void)require_cuda_devices(); }

std::vector<std::string> missing_libraries() {
  std::vector<std::string> missing;
  if (const std::string& problem = cublaslt().problem; !problem.empty())
    missing.push_back("cuBLASLt is not used, and matrix products take longer: " + problem);
  if (const std::string problem = missing_attention(); !problem.empty())
    missing.push_back("cuDNN's attention is not used, and attention takes longer: " + problem);
  return missing;
}

std::string cudnn_problem() { return cudnn().problem; }

std::unique_ptr<ComputeDevice> make_device(std::int32_t local_rank) {
  return std::make_unique<CudaDevice>(local_rank, cuda_kernel_table());
}

std::int32_t require_nccl() {
  (void)nccl::api();
  return require_cuda_devices();
}

std::shared_ptr<GroupMaker> make_groups(std::int32_t rank, Rendezvous& rendezvous) {
  return std::make_shared<NcclGroups>(rank, rendezvous);
}

}  // namespace
}  // namespace plumbline

extern "C" __attribute__((visibility("default"))) const plumbline::DeviceModule* plumbline_device_module() {
  static const std::string version(plumbline::program_version());
  static const plumbline::DeviceModule module{.version = version.c_str(),
                                              .kernels_size = sizeof(plumbline::DeviceKernels),
                                              .require_device = plumbline::require_device,
                                              .require_nccl = plumbline::require_nccl,
                                              .make_groups = plumbline::make_groups,
                                              .make_device = plumbline::make_device,
                                              .missing_libraries = plumbline::missing_libraries,
                                              .cudnn_problem = plumbline::cudnn_problem,
                                              .refused_calls = plumbline::refused_products_text};
  return &module;
}
