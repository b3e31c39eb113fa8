#pragma once
/// \file computer_report.h: what this computer has, what each backend of `plan run` could run on it, and what is
/// missing.
///
/// Answers: `plan doctor`. Model: facts are asked of the system, of NVIDIA's libraries (nvidia_facts.h) and of the
/// launcher's variables; what is concluded from them is pure. A device runs kernels of ours from compute capability 8.0
/// on (their mma.sync of bf16; PTX ISA 7.0) and with a driver of the runtime's major version or later (CUDA
/// Compatibility, "minor version compatibility"). Errors: none; what fails is said in its place. Not modelled: free
/// memory of devices, links between them, other computers of a job.
/// Checked against: tests/runtime/doctor/computer_report_test.cpp.

#include <functional>
#include <optional>

#include "models/this_computer.h"
#include "runtime/doctor/nvidia_facts.h"
#include "runtime/mpi/launch_place.h"

namespace plumbline {

/// The module of CUDA (runtime/device/device_module.h).
struct ModuleFacts {
  std::string file;     ///< empty: there is none
  std::string problem;  ///< why it is not loaded; empty: it is
  /// If the module is loaded: why cuDNN cannot compute attention; empty if it can.
  std::string cudnn_problem = {};
};

/// How ranks are started.
struct LaunchFacts {
  std::optional<LaunchPlace> place;  ///< of this process, where a launcher started it
  std::string problem;               ///< of the launcher's variables
  bool has_mpi = false;              ///< this program was built with MPI
  /// Launchers that the search path has: name and file.
  std::vector<std::pair<std::string, std::string>> programs;
};

struct ComputerFound {
  ComputerFacts computer;
  NvidiaDriver driver;
  std::vector<NvidiaLibrary> libraries;
  std::optional<std::string> visible_devices;  ///< CUDA_VISIBLE_DEVICES
  ModuleFacts module;
  LaunchFacts launch;
};

struct BackendVerdict {
  std::string name;  ///< as --backend takes it
  bool can_run = false;
  std::string text;  ///< what it runs, or the first reason why it does not
};

struct MissingPart {
  std::string what;
  std::string needed_for;
  std::string command;  ///< that gets it
};

struct ComputerReport {
  ComputerFound found;
  std::vector<BackendVerdict> backends;
  std::vector<MissingPart> missing;
};

/// What is asked of this computer; tests answer themselves.
struct ComputerQuestions {
  const DynamicLibraries& libraries;
  EnvironmentLookup environment;
  std::function<ComputerFacts()> computer;
  std::function<ModuleFacts()> module;
  bool has_mpi = false;
};

[[nodiscard]] ComputerFound look_around(const ComputerQuestions& questions);
/// Pure.
[[nodiscard]] ComputerReport report_of(ComputerFound found);
/// Of the computer and process that this is. `has_mpi`: MpiSession::is_built().
[[nodiscard]] ComputerReport computer_report(bool has_mpi);

}  // namespace plumbline
