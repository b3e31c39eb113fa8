#include "runtime/device/device_module.h"

#include <filesystem>
#include <fstream>

#include "core/base/errors.h"
#include "core/base/version.h"
#include "runtime/device/cpu_device.h"
#include "runtime/device/device_kernels.h"
#include "tests/catch.h"
#include "tests/fake_libraries.h"
#include "tests/temporary_folder.h"

namespace plumbline {
namespace {

const std::string this_version(program_version());

std::unique_ptr<ComputeDevice> cpu_device(std::int32_t) { return std::make_unique<CpuDevice>(); }
void nothing_required() {}

const DeviceModule* good_module() {
  static const DeviceModule module{
      this_version.c_str(), sizeof(DeviceKernels), nothing_required, nullptr, nullptr, cpu_device};
  return &module;
}
const DeviceModule* older_module() {
  static const DeviceModule module{"0.0.9", sizeof(DeviceKernels), nothing_required, nullptr, nullptr, cpu_device};
  return &module;
}
const DeviceModule* other_kernels() {
  static const DeviceModule module{
      this_version.c_str(), sizeof(DeviceKernels) - 8, nothing_required, nullptr, nullptr, cpu_device};
  return &module;
}

/// A folder with a file of the module's name in it, which the fake libraries load.
struct Folder {
  Folder() { std::ofstream(file()) << "not read"; }
  [[nodiscard]] std::string file() const { return (folder.path() / cuda_module_file).string(); }
  TemporaryFolder folder;
};

std::string refusal(const std::vector<std::filesystem::path>& folders, const DynamicLibraries& libraries) {
  try {
    (void)load_module(folders, cuda_module_file, libraries);
  } catch (const EnvironmentError& error) {
    return error.what();
  }
  return "";
}

std::string refusal_of(DeviceModuleEntry* entry) {
  const Folder folder;
  FakeLibraries libraries;
  libraries.with(folder.file(), {{device_module_entry, FakeLibraries::pointer(entry)}});
  return refusal({folder.folder.path()}, libraries);
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST_CASE("A module of this build is loaded from the first folder that has it") {
  const Folder folder;
  FakeLibraries libraries;
  libraries.with(folder.file(), {{device_module_entry, FakeLibraries::pointer(good_module)}});
  CHECK(load_module({"/nowhere", folder.folder.path()}, cuda_module_file, libraries).make_device(0) != nullptr);
}

TEST_CASE("A module is looked for beside the program and in ../lib/plumbline") {
  const auto folders = module_folders();
  REQUIRE(folders.size() == 2);
  CHECK(folders[0] == std::filesystem::read_symlink("/proc/self/exe").parent_path());
  CHECK(folders[1] == folders[0].parent_path() / "lib" / "plumbline");
}

TEST_CASE("A module that is not there is said with the folders where it was looked for") {
  CHECK(has(refusal({"/a", "/b"}, FakeLibraries()), "libplumbline-cuda.so: is not in /a or /b"));
}

TEST_CASE("A module whose libraries are missing names them") {
  const Folder folder;
  CHECK(has(refusal({folder.folder.path()}, FakeLibraries()), "cannot be loaded: " + folder.file()));
}

TEST_CASE("What is no module, or one of another build, is not used") {
  const Folder folder;
  FakeLibraries libraries;
  libraries.with(folder.file(), {});
  CHECK(has(refusal({folder.folder.path()}, libraries), "is no module of this program"));
  CHECK(has(refusal_of([]() -> const DeviceModule* { return nullptr; }), "is no module of this program"));
  CHECK(has(refusal_of(older_module), "is a module of plan 0.0.9"));
  CHECK(has(refusal_of(other_kernels), "this is another build"));
}

}  // namespace
}  // namespace plumbline
