#include "runtime/device/cpu_kernels.h"

namespace plumbline {
namespace reference {
namespace {

#define KERNEL_ENTRY(name, ...) .name = name,
#define SCRATCH_KERNEL_ENTRY(name, workspace, Arguments) .name = {workspace, name},

constexpr DeviceKernels table{.attention_kernel = attention_kernel,
                              .orthogonalise_scratch = orthogonalise_scratch,
                              PLUMBLINE_KERNELS(KERNEL_ENTRY, SCRATCH_KERNEL_ENTRY, SCRATCH_KERNEL_ENTRY)};

#undef KERNEL_ENTRY
#undef SCRATCH_KERNEL_ENTRY

}  // namespace
}  // namespace reference

const DeviceKernels& cpu_kernels() { return reference::table; }

}  // namespace plumbline
