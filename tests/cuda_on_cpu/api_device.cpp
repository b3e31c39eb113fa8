// The device and errors of the API.
#include <algorithm>
#include <array>
#include <cstring>

#include "tests/cuda_on_cpu/api_call.h"
#include "tests/cuda_on_cpu/run_settings.h"
#include "tests/cuda_on_cpu/shared_memory.h"

using cuda_on_cpu::api_call;
using cuda_on_cpu::run_settings;
using cuda_on_cpu::Streams;

namespace {

constexpr int runtime_version = 13000;

struct ErrorText {
  cudaError_t error;
  const char* name;
  const char* text;
};

// Texts are CUDA 13.0's.
constexpr std::array error_texts{
    ErrorText{cudaSuccess, "cudaSuccess", "no error"},
    ErrorText{cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    ErrorText{cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    ErrorText{cudaErrorInitializationError, "cudaErrorInitializationError", "initialization error"},
    ErrorText{cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
    ErrorText{cudaErrorInvalidMemcpyDirection, "cudaErrorInvalidMemcpyDirection", "invalid copy direction for memcpy"},
    ErrorText{cudaErrorInsufficientDriver, "cudaErrorInsufficientDriver",
              "CUDA driver version is insufficient for CUDA runtime version"},
    ErrorText{cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    ErrorText{cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    ErrorText{cudaErrorIllegalState, "cudaErrorIllegalState", "the operation cannot be performed in the present state"},
    ErrorText{cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    ErrorText{cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    ErrorText{cudaErrorIllegalAddress, "cudaErrorIllegalAddress", "an illegal memory access was encountered"},
    ErrorText{cudaErrorLaunchOutOfResources, "cudaErrorLaunchOutOfResources",
              "too many resources requested for launch"},
    ErrorText{cudaErrorLaunchTimeout, "cudaErrorLaunchTimeout", "the launch timed out and was terminated"},
    ErrorText{cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    ErrorText{cudaErrorNotPermitted, "cudaErrorNotPermitted", "operation not permitted"},
    ErrorText{cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported"},
    ErrorText{cudaErrorStreamCaptureUnsupported, "cudaErrorStreamCaptureUnsupported",
              "operation not permitted when stream is capturing"},
    ErrorText{cudaErrorStreamCaptureInvalidated, "cudaErrorStreamCaptureInvalidated",
              "operation failed due to a previous error during capture"},
    ErrorText{cudaErrorStreamCaptureMerge, "cudaErrorStreamCaptureMerge",
              "operation would result in a merge of separate capture sequences"},
    ErrorText{cudaErrorStreamCaptureUnmatched, "cudaErrorStreamCaptureUnmatched",
              "capture was not ended in the same stream as it began"},
    ErrorText{cudaErrorStreamCaptureUnjoined, "cudaErrorStreamCaptureUnjoined", "capturing stream has unjoined work"},
    ErrorText{cudaErrorStreamCaptureIsolation, "cudaErrorStreamCaptureIsolation",
              "dependency created on uncaptured work in another stream"},
    ErrorText{cudaErrorStreamCaptureImplicit, "cudaErrorStreamCaptureImplicit",
              "operation would make the legacy stream depend on a capturing blocking stream"},
    ErrorText{cudaErrorCapturedEvent, "cudaErrorCapturedEvent",
              "operation not permitted on an event last recorded in a capturing stream"},
    ErrorText{cudaErrorStreamCaptureWrongThread, "cudaErrorStreamCaptureWrongThread",
              "attempt to terminate a thread-local capture sequence from another thread"},
};

ErrorText text_of(cudaError_t error) {
  const auto* found =
      std::find_if(error_texts.begin(), error_texts.end(), [&](const ErrorText& t) { return t.error == error; });
  return found != error_texts.end() ? *found : ErrorText{cudaErrorUnknown, "cudaErrorUnknown", "unknown error"};
}

/// What every call that needs a device answers where there is none.
cudaError_t device_obstacle() {
  if (run_settings().device.driver_version < runtime_version) return cudaErrorInsufficientDriver;
  return run_settings().device.count > 0 ? cudaSuccess : cudaErrorNoDevice;
}

cudaError_t with_device(const char* name, int device) {
  return api_call(name, [&](Streams::Lock&) {
    const cudaError_t error = device_obstacle();
    if (error != cudaSuccess) return error;
    return device >= 0 && device < run_settings().device.count ? cudaSuccess : cudaErrorInvalidDevice;
  });
}

}  // namespace

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  *count = 0;
  return api_call("cudaGetDeviceCount", [&](Streams::Lock&) {
    const cudaError_t error = device_obstacle();
    if (error == cudaSuccess) *count = run_settings().device.count;
    return error;
  });
}

cudaError_t cudaSetDevice(int device) {
  const cudaError_t error = with_device("cudaSetDevice", device);
  if (error != cudaSuccess) return error;
  cuda_on_cpu::current_device() = device;
  const Streams::Lock lock(cuda_on_cpu::streams().mutex);
  cuda_on_cpu::streams().memory.make_context(device);
  return error;
}

cudaError_t cudaGetDevice(int* device) {
  *device = cuda_on_cpu::current_device();
  return with_device("cudaGetDevice", 0);
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  const cudaError_t error = with_device("cudaGetDeviceProperties", device);
  if (error != cudaSuccess) return error;
  *properties = cudaDeviceProp();
  const cuda_on_cpu::DeviceDescription& d = run_settings().device;
  std::strncpy(properties->name, d.name.c_str(), sizeof properties->name - 1);
  properties->totalGlobalMem = cuda_on_cpu::streams().memory.capacity;
  properties->sharedMemPerBlock = std::size_t{48} * 1024;
  properties->sharedMemPerBlockOptin = cuda_on_cpu::most_dynamic_shared;
  properties->major = d.major;
  properties->minor = d.minor;
  properties->multiProcessorCount = d.multiprocessors;
  properties->maxThreadsPerBlock = 1024;
  properties->warpSize = 32;
  return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int* version) {
  return api_call("cudaDriverGetVersion", [&](Streams::Lock&) {
    *version = run_settings().device.driver_version;
    return cudaSuccess;
  });
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  return api_call("cudaRuntimeGetVersion", [&](Streams::Lock&) {
    *version = runtime_version;
    return cudaSuccess;
  });
}

const char* cudaGetErrorName(cudaError_t error) { return text_of(error).name; }
const char* cudaGetErrorString(cudaError_t error) { return text_of(error).text; }
}
