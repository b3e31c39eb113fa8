#pragma once
/// \file device_kernels.h: the kernels of one kind of device, by name.
///
/// Answers: what to call for an operator. Model: one function for each row of kernels/kernel_list.h, with the arguments
/// that kernels/*.h declare; whoever runs a program knows no other way to a tensor's elements. A kernel is work of the
/// lane whose work calls it, and of the compute lane where none does. Views lie in the device's memory. `workspace`
/// answers the scratch that a call needs, in bytes, and reads no element. Nothing is returned: sums stay in the
/// device's memory.
/// Source: kernels/*.h. Not modelled: kernels that fuse several operators.
/// Checked against: tests/runtime/device/device_kernels_threads_test.cpp (complete; what a device replaces is what a
/// step runs), tests/architecture/test_kernels_by_table.py (nobody else calls kernels).

#include "kernels/kernel_list.h"

namespace plumbline {

/// A kernel that needs scratch memory: `Arguments` has a member `workspace`.
template <class Arguments>
struct ScratchKernel {
  Bytes (*workspace)(const Arguments&) = nullptr;
  void (*run)(const Arguments&) = nullptr;
};

#define KERNEL_MEMBER(name, ...) void (*name)(__VA_ARGS__) = nullptr;
#define SCRATCH_KERNEL_MEMBER(name, workspace, Arguments) ScratchKernel<Arguments> name;

/// Kernels that take several tensors at once, as a device needs fewer launches for them.
struct CombinedKernels {
  PLUMBLINE_COMBINED_KERNELS(KERNEL_MEMBER, SCRATCH_KERNEL_MEMBER)
};

struct DeviceKernels {
  /// Which kernel takes the call, as kernel tables name it (core/measurement/kernel_table.h).
  const char* (*attention_kernel)(const AttentionForward&) = nullptr;
  /// Floats of scratch for `orthogonalise`.
  std::int64_t (*orthogonalise_scratch)(std::int64_t rows, std::int64_t columns) = nullptr;
  /// Nothing: tensors are taken one by one.
  const CombinedKernels* combined = nullptr;
  PLUMBLINE_KERNELS(KERNEL_MEMBER, SCRATCH_KERNEL_MEMBER, SCRATCH_KERNEL_MEMBER)
};

#undef KERNEL_MEMBER
#undef SCRATCH_KERNEL_MEMBER

/// Calls `visit` for each kernel, whose member is its template argument: visit.operator()<&DeviceKernels::add>().
template <class Visit>
constexpr void for_each_kernel(Visit visit) {
#define VISIT(name, ...) visit.template operator()<&DeviceKernels::name>();
  PLUMBLINE_KERNELS(VISIT, VISIT, VISIT)
#undef VISIT
}
template <class Visit>
constexpr void for_each_combined_kernel(Visit visit) {
#define VISIT(name, ...) visit.template operator()<&CombinedKernels::name>();
  PLUMBLINE_COMBINED_KERNELS(VISIT, VISIT)
#undef VISIT
}

}  // namespace plumbline
