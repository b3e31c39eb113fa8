#pragma once
/// \file late_kernels.h: the CPU's kernels as work of CUDA streams that the CPU carries out: late, in any order that
/// events leave open, on memory that the host may not touch.
///
/// What a device does around its kernels is tested with them. Of kernels/cuda nothing is used.

#include "runtime/cuda/current_lane.h"
#include "runtime/device/cpu_kernels.h"
#include "tests/cuda_on_cpu/control.h"

namespace plumbline {
namespace late {

template <auto Member, class... Arguments>
void put(DeviceKernels& table, void (*DeviceKernels::*)(Arguments...)) {
  table.*Member = [](Arguments... arguments) {
    (void)cuda_on_cpu::enqueue_work(current_stream(), [=] { (cpu_kernels().*Member)(arguments...); });
  };
}

template <auto Member, class Arguments>
void put(DeviceKernels& table, ScratchKernel<Arguments> DeviceKernels::*) {
  (table.*Member).run = [](const Arguments& arguments) {
    (void)cuda_on_cpu::enqueue_work(current_stream(), [=] { (cpu_kernels().*Member).run(arguments); });
  };
}

}  // namespace late

[[nodiscard]] inline const DeviceKernels& late_kernels() {
  static const DeviceKernels table = [] {
    DeviceKernels made = cpu_kernels();
    for_each_kernel([&made]<auto kernel>() { late::put<kernel>(made, kernel); });
    return made;
  }();
  return table;
}

}  // namespace plumbline
