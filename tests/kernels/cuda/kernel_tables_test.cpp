#include <vector>

#include "kernels/cuda/cuda_kernels.h"
#include "tests/catch.h"

namespace plumbline {
namespace {

using Function = void (*)();

#define KERNEL(name, ...) reinterpret_cast<Function>(static_cast<void (*)(__VA_ARGS__, cudaStream_t)>(cuda::name)),
#define SCRATCH_KERNEL(name, workspace, Arguments) \
  reinterpret_cast<Function>(static_cast<Bytes (*)(const Arguments&)>(cuda::workspace)), KERNEL(name, const Arguments&)

// What kernels/cuda does not define does not link.
TEST_CASE("every kernel that a device's table names has one for CUDA") {
  const std::vector<Function> kernels{PLUMBLINE_KERNELS(KERNEL, SCRATCH_KERNEL, SCRATCH_KERNEL)};
  CHECK(kernels.size() >= 60);
  for (const Function kernel : kernels) CHECK(kernel != nullptr);
}

#undef KERNEL
#undef SCRATCH_KERNEL

}  // namespace
}  // namespace plumbline
