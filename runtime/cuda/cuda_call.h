#pragma once
/// \file cuda_call.h: a call of CUDA's runtime that must succeed, or says which it was.
///
/// Answers: an error's sentence: "cudaMemcpyAsync of 4096 bytes: an illegal memory access was encountered (error 700)".
/// An error of work that ran before is found by a later call, which is the one that is named. Rank and action are put
/// in front by whoever runs them (runtime/run/rank_training.h). Source: CUDA Runtime API, "Error Handling". Checked
/// against: tests/cuda/cuda_device_test.cpp.

#include <cuda_runtime_api.h>

#include <new>
#include <string>

#include "core/base/errors.h"
#include "runtime/device/failed_work.h"

namespace plumbline {

class CudaError : public EnvironmentError {
 public:
  using EnvironmentError::EnvironmentError;
};

/// Of work that ran before: the call found it.
class CudaWorkError : public CudaError, public FailedWork {
 public:
  using CudaError::CudaError;
};

/// Errors of kernels and copies while they run, which stay until the process ends: 214 memory (ECC), 700 illegal
/// address, 702 time limit, 710 assertion, 714 stack, 715 instruction, 716 alignment, 717 address space, 718 program
/// counter, 719 launch failure. Source: CUDA Runtime API 13.0, cudaError_t.
[[nodiscard]] constexpr bool is_of_work(cudaError_t error) {
  const int code = static_cast<int>(error);
  return code == 214 || code == 700 || code == 702 || code == 710 || (code >= 714 && code <= 719);
}

/// The device has no room for what was asked.
class CudaOutOfMemory : public std::bad_alloc {
 public:
  explicit CudaOutOfMemory(std::string text) : text_(std::move(text)) {}
  [[nodiscard]] const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

/// Throws CudaError, or CudaWorkError. `call`: "cudaEventRecord", with what it was about behind it, if that helps.
inline void require(cudaError_t error, const std::string& call) {
  if (error == cudaSuccess) return;
  const std::string text =
      call + ": " + cudaGetErrorString(error) + " (error " + std::to_string(static_cast<int>(error)) + ")";
  if (is_of_work(error)) throw CudaWorkError(text);
  throw CudaError(text);
}

}  // namespace plumbline
