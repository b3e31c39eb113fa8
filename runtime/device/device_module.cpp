#include "runtime/device/device_module.h"

#include <system_error>

#include "core/base/errors.h"
#include "core/base/joined.h"
#include "core/base/version.h"
#include "runtime/device/device_kernels.h"

namespace plumbline {
namespace {

void require_same_build(const DeviceModule& module, const std::string& path) {
  const std::string version = module.version == nullptr ? "unknown" : module.version;
  if (version == program_version() && module.kernels_size == sizeof(DeviceKernels)) return;
  throw EnvironmentError(path + ": is a module of plan " + version + ", and this is another build, of " +
                         std::string(program_version()) + "; build and install both together");
}

}  // namespace

std::vector<std::filesystem::path> module_folders() {
  std::error_code failed;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (failed) return {};
  const std::filesystem::path own_folder = program.parent_path();
  return {own_folder, own_folder.parent_path() / "lib" / "plumbline"};
}

std::filesystem::path find_module(const std::vector<std::filesystem::path>& folders, const std::string& file) {
  for (const std::filesystem::path& folder : folders) {
    std::error_code failed;
    if (std::filesystem::is_regular_file(folder / file, failed)) return folder / file;
  }
  return {};
}

const DeviceModule& load_module(const std::vector<std::filesystem::path>& folders, const std::string& file,
                                const DynamicLibraries& libraries) {
  const std::string path = find_module(folders, file);
  if (path.empty()) {
    std::vector<std::string> names(folders.begin(), folders.end());
    throw EnvironmentError(file + ": is not in " + joined(names, " or ") + ", and this program needs it for a GPU");
  }
  const OpenedLibrary opened = libraries.open(path);
  if (opened.handle == nullptr) throw EnvironmentError(path + ": cannot be loaded: " + opened.problem);
  auto* const entry = function_of<DeviceModuleEntry>(libraries, opened.handle, device_module_entry);
  const DeviceModule* const module = entry == nullptr ? nullptr : entry();
  if (module == nullptr) throw EnvironmentError(path + ": is no module of this program");
  require_same_build(*module, path);
  return *module;
}

const DeviceModule& load_cuda_module() { return load_module(module_folders(), cuda_module_file, system_libraries()); }

}  // namespace plumbline
