#pragma once
/// \file fake_driver.h: NVIDIA's driver and libraries as a test says: two devices, or a call that fails.

#include <cstring>

#include "tests/fake_libraries.h"

namespace plumbline::fake_driver {

struct Answers {
  int cuda = 13000;
  int devices = 2;
  int init_error = 0;
  int attribute_error = 0;
  int capability_major = 9;
};
/// What the functions below answer: C functions know no object.
inline Answers answers;

inline int version(int* number) { return *number = answers.cuda, 0; }
inline int init(unsigned) { return answers.init_error; }
inline int count(int* number) { return *number = answers.devices, 0; }
inline int device(int* handle, int index) { return *handle = 100 + index, 0; }
inline int name(char* to, int size, int) {
  return std::strncpy(to, "NVIDIA H100\t80GB", static_cast<std::size_t>(size)), 0;
}
inline int memory(std::size_t* bytes, int) { return *bytes = std::size_t{80} << 30U, 0; }
inline int attribute(int* value, int which, int handle) {
  if (handle < 100) return 101;
  *value = which == 75 ? answers.capability_major : which == 76 ? 0 : which == 16 ? 132 : -1;
  return answers.attribute_error;
}
inline int error_text(int error, const char** text) { return *text = error == 999 ? "unknown error" : nullptr, 0; }
inline int nothing() { return 0; }
inline int release(char* to, unsigned size) { return std::strncpy(to, "580.65.06", size), 0; }

inline int no_version(int* /*number*/) { return 0; }
inline int runtime_version(int* number) { return *number = 13000, 0; }
inline std::size_t blas_version() { return 130100; }
inline std::size_t cudnn_version() { return 91900; }
inline int nccl_version(int* number) { return *number = 22809, 0; }

inline FakeLibraries::Functions driver_functions() {
  const auto pointer = [](auto* function) { return FakeLibraries::pointer(function); };
  return {{"cuDriverGetVersion", pointer(version)},     {"cuInit", pointer(init)},
          {"cuDeviceGetCount", pointer(count)},         {"cuDeviceGet", pointer(device)},
          {"cuDeviceGetName", pointer(name)},           {"cuDeviceTotalMem_v2", pointer(memory)},
          {"cuDeviceGetAttribute", pointer(attribute)}, {"cuGetErrorString", pointer(error_text)}};
}

/// Adds everything that a computer with GPUs has.
inline void install(FakeLibraries& libraries) {
  answers = {};
  const auto pointer = [](auto* function) { return FakeLibraries::pointer(function); };
  libraries.with("libcuda.so.1", driver_functions())
      .with("libnvidia-ml.so.1", {{"nvmlInit_v2", pointer(nothing)},
                                  {"nvmlSystemGetDriverVersion", pointer(release)},
                                  {"nvmlShutdown", pointer(nothing)}})
      .with("libcudart.so.13", {{"cudaRuntimeGetVersion", pointer(runtime_version)}})
      .with("libcublasLt.so.13", {{"cublasLtGetVersion", pointer(blas_version)}})
      .with("libcudnn.so.9", {{"cudnnGetVersion", pointer(cudnn_version)}})
      .with("libnccl.so.2", {{"ncclGetVersion", pointer(nccl_version)}});
}

}  // namespace plumbline::fake_driver
