#include "runtime/doctor/nvidia_facts.h"

#include <algorithm>
#include <array>
#include <optional>

namespace plumbline {
namespace {

// Of the driver API (cuda.h): CU_DEVICE_ATTRIBUTE_...
constexpr int multiprocessor_count = 16;
constexpr int compute_capability_major = 75;
constexpr int compute_capability_minor = 76;

constexpr int most_devices = 64;  // what a computer has is far below; a driver that says more is not believed

/// The driver's calls, of which each answers 0 or an error.
class DriverCalls {
 public:
  DriverCalls(const DynamicLibraries& libraries, void* handle) : libraries_(libraries), handle_(handle) {}

  /// Calls a function of the driver; whether it answered 0. The first failure is kept.
  template <class... Parameters, class... Arguments>
  bool call(int (*)(Parameters...), const char* name, Arguments... arguments) {
    auto* const function = function_of<int(Parameters...)>(libraries_, handle_, name);
    if (function == nullptr) return fail(std::string(name) + " is not in the driver");
    const int error = function(arguments...);
    return error == 0 || fail(std::string(name) + ": " + text_of(error));
  }
  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  bool fail(std::string problem) {
    if (problem_.empty()) problem_ = std::move(problem);
    return false;
  }
  [[nodiscard]] std::string text_of(int error) const {
    const std::string code = "error " + std::to_string(error);
    auto* const text = function_of<int(int, const char**)>(libraries_, handle_, "cuGetErrorString");
    const char* said = nullptr;
    if (text == nullptr || text(error, &said) != 0 || said == nullptr) return code;
    return std::string(said) + " (" + code + ")";
  }

  const DynamicLibraries& libraries_;
  void* handle_;
  std::string problem_;
};

// Types of the functions, by which `call` looks them up.
constexpr int (*takes_flags)(unsigned) = nullptr;
constexpr int (*gives_number)(int*) = nullptr;
constexpr int (*gives_number_of)(int*, int) = nullptr;
constexpr int (*gives_attribute)(int*, int, int) = nullptr;
constexpr int (*gives_name)(char*, int, int) = nullptr;
constexpr int (*gives_size)(std::size_t*, int) = nullptr;

std::optional<NvidiaDevice> device(DriverCalls& driver, int index) {
  int handle = 0;
  std::array<char, 128> name{};
  std::size_t memory = 0;
  NvidiaDevice found;
  const bool answered =
      driver.call(gives_number_of, "cuDeviceGet", &handle, index) &&
      driver.call(gives_name, "cuDeviceGetName", name.data(), static_cast<int>(name.size() - 1), handle) &&
      driver.call(gives_size, "cuDeviceTotalMem_v2", &memory, handle) &&
      driver.call(gives_attribute, "cuDeviceGetAttribute", &found.compute_capability.major, compute_capability_major,
                  handle) &&
      driver.call(gives_attribute, "cuDeviceGetAttribute", &found.compute_capability.minor, compute_capability_minor,
                  handle) &&
      driver.call(gives_attribute, "cuDeviceGetAttribute", &found.multiprocessors, multiprocessor_count, handle);
  if (!answered) return std::nullopt;
  found.name = name.data();
  found.memory = Bytes(static_cast<std::int64_t>(memory));
  return found;
}

/// "580.65.06", as nvidia-smi shows it.
std::string release(const DynamicLibraries& libraries) {
  const OpenedLibrary nvml = libraries.open("libnvidia-ml.so.1");
  if (nvml.handle == nullptr) return "";
  auto* const begin = function_of<int()>(libraries, nvml.handle, "nvmlInit_v2");
  auto* const version = function_of<int(char*, unsigned)>(libraries, nvml.handle, "nvmlSystemGetDriverVersion");
  auto* const end = function_of<int()>(libraries, nvml.handle, "nvmlShutdown");
  if (begin == nullptr || version == nullptr || end == nullptr || begin() != 0) return "";
  std::array<char, 81> text{};  // NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE, and an end that nobody overwrites
  const bool answered = version(text.data(), static_cast<unsigned>(text.size() - 1)) == 0;
  (void)end();
  return answered ? text.data() : "";
}

MajorMinor cuda_version(int number) { return {number / 1000, number % 1000 / 10}; }

std::string three_parts(std::int64_t number) {
  return std::to_string(number / 10000) + "." + std::to_string(number % 10000 / 100) + "." +
         std::to_string(number % 100);
}

/// How a library says its version.
enum class Says : std::uint8_t { as_result, in_argument };

struct LibraryKind {
  const char* name;
  std::array<const char*, 2> files;  ///< newest first
  const char* version_function;
  Says says;
  bool has_patch;
};
constexpr std::array component_kinds{
    LibraryKind{"cudart", {"libcudart.so.13", "libcudart.so.12"}, "cudaRuntimeGetVersion", Says::in_argument, false},
    LibraryKind{"cuBLASLt", {"libcublasLt.so.13", "libcublasLt.so.12"}, "cublasLtGetVersion", Says::as_result, true},
    LibraryKind{"cuDNN", {"libcudnn.so.9", nullptr}, "cudnnGetVersion", Says::as_result, true},
    LibraryKind{"NCCL", {"libnccl.so.2", nullptr}, "ncclGetVersion", Says::in_argument, true}};

std::int64_t version_number(void* symbol, Says says) {
  if (says == Says::as_result) return static_cast<std::int64_t>(reinterpret_cast<std::size_t (*)()>(symbol)());
  int version = 0;
  return reinterpret_cast<int (*)(int*)>(symbol)(&version) == 0 ? version : 0;
}

NvidiaLibrary library(const DynamicLibraries& libraries, const LibraryKind& kind) {
  NvidiaLibrary found{kind.name, "", "", ""};
  for (const char* const file : kind.files) {
    if (file == nullptr) continue;
    const OpenedLibrary opened = libraries.open(file);
    if (opened.handle == nullptr) {
      if (found.problem.empty()) found.problem = opened.problem;
      continue;
    }
    void* const symbol = libraries.symbol(opened.handle, kind.version_function);
    const std::int64_t number = symbol == nullptr ? 0 : version_number(symbol, kind.says);
    found.file = symbol == nullptr ? file : libraries.file_of(symbol);
    if (number > 0) {
      found.version =
          kind.has_patch ? three_parts(number) : to_text(cuda_version(static_cast<int>(number % 1'000'000)));
      found.problem.clear();
    } else {
      found.problem = std::string(file) + ": does not say its version";
    }
    return found;
  }
  return found;
}

}  // namespace

std::string to_text(const MajorMinor& version) {
  return std::to_string(version.major) + "." + std::to_string(version.minor);
}

NvidiaDriver nvidia_driver(const DynamicLibraries& libraries) {
  NvidiaDriver found;
  const OpenedLibrary cuda = libraries.open("libcuda.so.1");
  if (cuda.handle == nullptr) {
    found.problem = cuda.problem;
    return found;
  }
  found.is_installed = true;
  found.release = release(libraries);
  DriverCalls driver(libraries, cuda.handle);
  int version = 0;
  int devices = 0;
  if (driver.call(gives_number, "cuDriverGetVersion", &version)) found.cuda = cuda_version(version);
  if (driver.call(takes_flags, "cuInit", 0U) && driver.call(gives_number, "cuDeviceGetCount", &devices))
    for (int index = 0; index < std::min(devices, most_devices); ++index)
      if (const auto one = device(driver, index)) found.devices.push_back(*one);
  found.problem = driver.problem();
  return found;
}

std::vector<NvidiaLibrary> nvidia_libraries(const DynamicLibraries& libraries) {
  std::vector<NvidiaLibrary> all;
  for (const LibraryKind& kind : component_kinds) all.push_back(library(libraries, kind));
  return all;
}

}  // namespace plumbline
