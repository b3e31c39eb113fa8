#pragma once
/// \file nvidia_facts.h: NVIDIA's driver, devices and libraries on this computer, asked of themselves.
///
/// Answers: versions, files, and why something cannot be used. Model: each library is loaded as a program would load it
/// and asked for its version; the driver also for its devices. No header and no library of NVIDIA's is needed to build
/// this. Source: CUDA Driver API (cuDriverGetVersion, cuDeviceGetAttribute: attributes 16, 75, 76), NVML, and the
/// version numbers of cudart (1000 major + 10 minor), cuBLASLt, cuDNN 9 and NCCL (10000 major + 100 minor + patch) as
/// their reference manuals define them. Not modelled: devices that other processes fill. Checked against:
/// tests/runtime/doctor/nvidia_facts_test.cpp.

#include <cstdint>
#include <vector>

#include "core/quantity/quantity.h"
#include "runtime/device/dynamic_libraries.h"

namespace plumbline {

/// Major and minor: of CUDA, of a device's compute capability.
struct MajorMinor {
  int major = 0;
  int minor = 0;
  auto operator<=>(const MajorMinor&) const = default;
};
[[nodiscard]] std::string to_text(const MajorMinor& version);

struct NvidiaDevice {
  std::string name;
  Bytes memory{0};
  MajorMinor compute_capability;
  std::int32_t multiprocessors = 0;
};

struct NvidiaDriver {
  bool is_installed = false;  ///< libcuda.so.1 was loaded
  std::string release;        ///< "580.65.06"; empty: NVML is not there
  MajorMinor cuda;            ///< the newest that it serves
  std::string problem;        ///< why it cannot be used; empty: it can
  std::vector<NvidiaDevice> devices;
};

struct NvidiaLibrary {
  std::string name;     ///< "cuBLASLt"
  std::string version;  ///< "13.1.0"; empty: it is not there
  std::string file;
  std::string problem;  ///< why there is no version
};

[[nodiscard]] NvidiaDriver nvidia_driver(const DynamicLibraries& libraries);
/// cudart, cuBLASLt, cuDNN and NCCL, in this order, there or not.
[[nodiscard]] std::vector<NvidiaLibrary> nvidia_libraries(const DynamicLibraries& libraries);

}  // namespace plumbline
