#include "runtime/doctor/computer_report.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "core/base/errors.h"
#include "runtime/device/device_module.h"
#include "runtime/mpi/launch_place.h"

namespace plumbline {
namespace {

constexpr MajorMinor oldest_capability{8, 0};
constexpr std::array launchers{"mpirun", "srun", "torchrun"};

/// The file that a shell would start.
std::string program_file(const std::string& name, const std::string& path) {
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    const std::filesystem::path file = std::filesystem::path(path.substr(begin, end - begin)) / name;
    std::error_code failed;
    if (end > begin && std::filesystem::is_regular_file(file, failed) && ::access(file.c_str(), X_OK) == 0) return file;
    begin = end + 1;
  }
  return "";
}

LaunchFacts launch_facts(const ComputerQuestions& questions) {
  LaunchFacts facts;
  facts.has_mpi = questions.has_mpi;
  try {
    facts.place = launch_place(questions.environment);
  } catch (const InputError& error) {
    facts.problem = error.what();
  }
  const std::string path = questions.environment("PATH").value_or("");
  for (const char* const launcher : launchers)
    if (const std::string file = program_file(launcher, path); !file.empty())
      facts.programs.emplace_back(launcher, file);
  return facts;
}

ModuleFacts cuda_module_facts() {
  ModuleFacts facts;
  const auto folders = module_folders();
  facts.file = find_module(folders, cuda_module_file);
  try {
    facts.cudnn_problem = load_module(folders, cuda_module_file, system_libraries()).cudnn_problem();
  } catch (const EnvironmentError& error) {
    facts.problem = error.what();
  }
  return facts;
}

bool is_loaded(const ModuleFacts& module) { return !module.file.empty() && module.problem.empty(); }

const NvidiaLibrary* library_named(const ComputerFound& found, const std::string& name) {
  const auto at = std::find_if(found.libraries.begin(), found.libraries.end(),
                               [&](const NvidiaLibrary& one) { return one.name == name; });
  return at == found.libraries.end() || at->version.empty() ? nullptr : &*at;
}

std::optional<std::string> driver_problem(const ComputerFound& found) {
  const NvidiaDriver& driver = found.driver;
  if (!driver.is_installed) return "there is no NVIDIA driver (" + driver.problem + ")";
  const NvidiaLibrary* const runtime = library_named(found, "cudart");
  if (runtime != nullptr && driver.cuda.major > 0 && driver.cuda.major < std::stoi(runtime->version))
    return "the driver serves CUDA " + to_text(driver.cuda) + " and the runtime is " + runtime->version;
  if (!driver.problem.empty()) return "the driver does not work: " + driver.problem;
  return std::nullopt;
}

std::optional<std::string> device_problem(const ComputerFound& found) {
  const auto& devices = found.driver.devices;
  if (devices.empty())
    return "the driver finds no device" +
           (found.visible_devices ? " (CUDA_VISIBLE_DEVICES is '" + *found.visible_devices + "')" : std::string());
  if (std::any_of(devices.begin(), devices.end(),
                  [](const NvidiaDevice& one) { return one.compute_capability >= oldest_capability; }))
    return std::nullopt;
  return "no device has compute capability " + to_text(oldest_capability) + " or later: " + devices.front().name +
         " has " + to_text(devices.front().compute_capability);
}

BackendVerdict cpu_verdict(const ComputerFound& found) {
  std::string text = "up to " + std::to_string(most_local_ranks) + " ranks as threads";
  if (found.launch.has_mpi) text += ", or as processes of MPI";
  return {"cpu", true, text};
}

BackendVerdict cuda_verdict(const ComputerFound& found) {
  if (const auto problem = driver_problem(found)) return {"cuda", false, *problem};
  if (const auto problem = device_problem(found)) return {"cuda", false, *problem};
  if (!found.module.problem.empty()) return {"cuda", false, found.module.problem};
  const std::size_t devices = found.driver.devices.size();
  const NvidiaLibrary* const nccl = library_named(found, "NCCL");
  return {"cuda", true,
          "ranks on " + std::to_string(devices) + (devices == 1 ? " device" : " devices") +
              (nccl != nullptr ? "; a device for each with --ranks nccl (NCCL " + nccl->version + ")"
                               : "; all share one, since NCCL is not there")};
}

const char* library_command(const std::string& name) {
  if (name == "cudart") return "pip install 'nvidia-cuda-runtime==13.*', its lib folder in LD_LIBRARY_PATH";
  if (name == "cuBLASLt") return "pip install 'nvidia-cublas==13.*', its lib folder in LD_LIBRARY_PATH";
  if (name == "cuDNN") return "pip install nvidia-cudnn-cu13, its lib folder in LD_LIBRARY_PATH";
  return "pip install nvidia-nccl-cu13, its lib folder in LD_LIBRARY_PATH";
}

const char* library_use(const std::string& name) {
  if (name == "cuDNN") return "attention of cuDNN";
  return name == "NCCL" ? "--backend cuda --ranks nccl" : "--backend cuda";
}

std::vector<MissingPart> missing_parts(const ComputerFound& found) {
  std::vector<MissingPart> missing;
  if (driver_problem(found))
    missing.push_back({found.driver.is_installed ? "a newer or working NVIDIA driver" : "NVIDIA driver",
                       "--backend cuda",
                       "apt-get install nvidia-driver (Debian, non-free), ubuntu-drivers install (Ubuntu); in a "
                       "container, docker run --gpus all"});
  else if (device_problem(found))
    missing.push_back({"a device of compute capability " + to_text(oldest_capability) + " or later", "--backend cuda",
                       "nvidia-smi -L lists what the driver sees"});
  // The module looks in more places than the system's loader.
  const bool has_cudnn = is_loaded(found.module) && found.module.cudnn_problem.empty();
  for (const NvidiaLibrary& one : found.libraries)
    if (one.version.empty() && !(has_cudnn && one.name == "cuDNN"))
      missing.push_back({one.name, library_use(one.name), library_command(one.name)});
  if (found.module.file.empty())
    missing.push_back({cuda_module_file, "--backend cuda", "a program that was built with a module for CUDA"});
  if (is_loaded(found.module) && !found.module.cudnn_problem.empty() && library_named(found, "cuDNN") != nullptr)
    missing.push_back({"attention of cuDNN in " + std::string(cuda_module_file), "its speed from sm_90 on",
                       "pip install nvidia-cudnn-frontend nvidia-cudnn-cu13, then make cuda"});
  if (!found.launch.has_mpi)
    missing.push_back({"MPI in this program", "--ranks mpi",
                       "apt-get install libopenmpi-dev openmpi-bin, then cmake --preset release and make build"});
  return missing;
}

}  // namespace

ComputerFound look_around(const ComputerQuestions& questions) {
  ComputerFound found;
  found.computer = questions.computer();
  found.driver = nvidia_driver(questions.libraries);
  found.libraries = nvidia_libraries(questions.libraries);
  found.visible_devices = questions.environment("CUDA_VISIBLE_DEVICES");
  found.module = questions.module();
  found.launch = launch_facts(questions);
  return found;
}

ComputerReport report_of(ComputerFound found) {
  ComputerReport report;
  report.backends = {cpu_verdict(found), cuda_verdict(found)};
  report.missing = missing_parts(found);
  report.found = std::move(found);
  return report;
}

ComputerReport computer_report(bool has_mpi) {
  return report_of(look_around({system_libraries(), process_environment, computer_facts, cuda_module_facts, has_mpi}));
}

}  // namespace plumbline
