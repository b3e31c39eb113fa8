#pragma once
/// \file cuda_kernels.h: the kernels of kernels/*.h on a GPU.
///
/// Answers: for each row of kernels/kernel_list.h a function of the same name and arguments in a stream, and what the
/// device's table needs beside. Model: straightforward kernels for every format; all memory that the arguments name,
/// counts and indices included, is the device's, and is read and written when the stream gets there. Numbers are
/// computed in fp32 and rounded once, sums are made in an order that is the same at every run, and no atomic operation
/// adds numbers. A launch that CUDA refuses is an EnvironmentError that names the kernel. Not modelled: checks of what
/// the memory holds (indices in range); speed: docs/cuda.md has what was measured. Checked against:
/// tests/kernels/cuda/kernel_tables_test.cpp (the CPU's kernels, carried out on the CPU).

#include <cuda_runtime_api.h>

#include "kernels/kernel_list.h"

namespace plumbline::cuda {

#define DECLARE_KERNEL(name, ...) void name(__VA_ARGS__, cudaStream_t stream);
#define DECLARE_SCRATCH_KERNEL(name, workspace, Arguments) \
  [[nodiscard]] Bytes workspace(const Arguments& args);    \
  void name(const Arguments& args, cudaStream_t stream);

PLUMBLINE_KERNELS(DECLARE_KERNEL, DECLARE_SCRATCH_KERNEL, DECLARE_SCRATCH_KERNEL)
PLUMBLINE_COMBINED_KERNELS(DECLARE_KERNEL, DECLARE_SCRATCH_KERNEL)

#undef DECLARE_KERNEL
#undef DECLARE_SCRATCH_KERNEL

void scale(const Scale& args, cudaStream_t stream);
void linear_input_gradient(const LinearInputGradient& args, cudaStream_t stream);
/// Of the bias alone, which is there, in the scratch that linear_weight_gradient takes for it too.
void linear_bias_gradient(const LinearWeightGradient& args, cudaStream_t stream);
[[nodiscard]] inline const char* attention_kernel(const AttentionForward& /*args*/) { return "flash-2"; }
/// As many floats as `reference` takes.
[[nodiscard]] std::int64_t orthogonalise_scratch(std::int64_t rows, std::int64_t columns);

}  // namespace plumbline::cuda
