#include "runtime/cuda/cuda_kernel_table.h"

#include "kernels/cuda/cuda_kernels.h"
#include "runtime/cuda/attention_kernels.h"
#include "runtime/cuda/current_lane.h"
#include "runtime/cuda/product_kernels.h"

namespace plumbline {
namespace cuda {
namespace {

#define KERNEL_ENTRY(name, ...) .name = [](auto... args) { name(args..., current_stream()); },
#define SCRATCH_KERNEL_ENTRY(name, workspace, Arguments) \
  .name = {workspace, [](const Arguments& args) { name(args, current_stream()); }},
#define LIBRARY_KERNEL_ENTRY(name, workspace, Arguments) .name = {library::workspace, library::name},

constexpr CombinedKernels combined{PLUMBLINE_COMBINED_KERNELS(KERNEL_ENTRY, SCRATCH_KERNEL_ENTRY)};

constexpr DeviceKernels table{.attention_kernel = library::attention_kernel,
                              .orthogonalise_scratch = orthogonalise_scratch,
                              .combined = &combined,
                              PLUMBLINE_KERNELS(KERNEL_ENTRY, SCRATCH_KERNEL_ENTRY, LIBRARY_KERNEL_ENTRY)};

#undef KERNEL_ENTRY
#undef SCRATCH_KERNEL_ENTRY
#undef LIBRARY_KERNEL_ENTRY

}  // namespace
}  // namespace cuda

const DeviceKernels& cuda_kernel_table() { return cuda::table; }

}  // namespace plumbline
