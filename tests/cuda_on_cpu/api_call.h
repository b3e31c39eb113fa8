#pragma once
/// \file api_call.h: what every function of the API does besides its own work. Not for tests or kernels.
///
/// Model: it is counted; it fails where a test asked for that (control.h), where work of the device has failed, and in
/// host functions of streams; its error is kept for cudaGetLastError.
/// Checked against: tests/cuda_on_cpu/streams_test.cpp.

#include "tests/cuda_on_cpu/streams.h"

namespace cuda_on_cpu {

/// What keeps a call from being carried out, if anything.
cudaError_t obstacle(const char* name);
/// Remembers an error; returns it.
cudaError_t remember(cudaError_t error);
/// The error that a test asked for of this call, which is used up.
cudaError_t requested_failure(const char* name);

template <class Body>
cudaError_t api_call(const char* name, Body body) {
  Streams::Lock lock(streams().mutex);
  cudaError_t before = obstacle(name);
  if (before == cudaSuccess) before = streams().captures.obstacle(name);
  return remember(before != cudaSuccess ? before : body(lock));
}

}  // namespace cuda_on_cpu
