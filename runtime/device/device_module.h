#pragma once
/// \file device_module.h: devices that a shared library of ours brings: the one of CUDA, loaded only when asked for.
///
/// Answers: the module for a backend, from a folder of this program. Model: libplumbline-cuda.so lies beside the
/// program, or in ../lib/plumbline as seen from there, and is of the same build. It is loaded after the process has
/// forked, if it does: a driver does not survive that. Errors: EnvironmentError, one sentence that says what is
/// missing. Not modelled: modules of others. Checked against: tests/runtime/device/device_module_test.cpp,
/// tests/integration/doctor_test.py.

#include <filesystem>
#include <memory>
#include <vector>

#include "runtime/communication/group_maker.h"
#include "runtime/device/compute_device.h"
#include "runtime/device/dynamic_libraries.h"

namespace plumbline {

class Rendezvous;

/// What a module gives. Its two first members stay what they are: they say whether the others can be read.
struct DeviceModule {
  const char* version = nullptr;  ///< of the program that it was built with
  std::size_t kernels_size = 0;   ///< of DeviceKernels there
  /// Throws EnvironmentError, one sentence, where there is no driver or no device.
  void (*require_device)() = nullptr;
  /// Throws EnvironmentError, one sentence, where NCCL is not there. How many devices this process sees.
  std::int32_t (*require_nccl)() = nullptr;
  /// Groups of NCCL's, of the thread that makes its device. The rendezvous outlives them.
  std::shared_ptr<GroupMaker> (*make_groups)(std::int32_t rank, Rendezvous& rendezvous) = nullptr;
  /// `local_rank`: which of the computer's devices, in turn.
  std::unique_ptr<ComputeDevice> (*make_device)(std::int32_t local_rank) = nullptr;
  /// One sentence for each library that its devices must do without on this computer.
  std::vector<std::string> (*missing_libraries)() = nullptr;
  /// Why cuDNN cannot compute attention on any device; empty if it can.
  std::string (*cudnn_problem)() = nullptr;
  /// One sentence on calls that a library refused while devices worked; empty if it refused none.
  std::string (*refused_calls)() = nullptr;
};

/// The one function that a module is looked up by.
using DeviceModuleEntry = const DeviceModule*();
inline constexpr const char* device_module_entry = "plumbline_device_module";

inline constexpr const char* cuda_module_file = "libplumbline-cuda.so";

/// Beside this program, and ../lib/plumbline from there.
[[nodiscard]] std::vector<std::filesystem::path> module_folders();
/// The first file of this name; empty: none.
[[nodiscard]] std::filesystem::path find_module(const std::vector<std::filesystem::path>& folders,
                                                const std::string& file);
/// Loads it. Throws EnvironmentError when it is not there, cannot be loaded, or is of another build.
[[nodiscard]] const DeviceModule& load_module(const std::vector<std::filesystem::path>& folders,
                                              const std::string& file, const DynamicLibraries& libraries);
/// That for NVIDIA's GPUs, from where module_folders() says; throws as load_module.
[[nodiscard]] const DeviceModule& load_cuda_module();

}  // namespace plumbline
