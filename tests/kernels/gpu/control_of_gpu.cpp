// What tests of kernels ask of the device (tests/cuda_on_cpu/control.h), where that is a GPU: it has no orders to
// choose and nothing to count. Tests that need counts have the tag [counted] and are left out.

#include "tests/cuda_on_cpu/control.h"

namespace cuda_on_cpu {

void renew_device() {}
void set_thread_order(ThreadOrder) {}
void set_seed(unsigned) {}
void set_device(const DeviceDescription&) {}
void set_alignment(std::size_t) {}
void fail_call(const std::string&, int, cudaError_t) {}
std::map<std::string, int> calls_made() { return {}; }
int blocks_launched() { return 0; }
int atomic_operations() { return 0; }
std::string last_problem() { return ""; }

}  // namespace cuda_on_cpu
