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

namespace plumbline {

class CudaError : public EnvironmentError {
 public:
  using EnvironmentError::EnvironmentError;
};

/// The device has no room for what was asked.
class CudaOutOfMemory : public std::bad_alloc {
 public:
  explicit CudaOutOfMemory(std::string text) : text_(std::move(text)) {}
  [[nodiscard]] const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

/// Throws CudaError. `call`: "cudaEventRecord", with what it was about behind it, if that helps.
inline void require(cudaError_t error, const std::string& call) {
  if (error == cudaSuccess) return;
  throw CudaError(call + ": " + cudaGetErrorString(error) + " (error " + std::to_string(static_cast<int>(error)) + ")");
}

}  // namespace plumbline
