#include "runtime/device/dynamic_libraries.h"

#include <dlfcn.h>

namespace plumbline {
namespace {

class SystemLibraries : public DynamicLibraries {
 public:
  [[nodiscard]] OpenedLibrary open(const std::string& name) const override {
    if (void* const handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) return {handle, ""};
    const char* const problem = ::dlerror();
    return {nullptr, problem == nullptr ? name + ": cannot be loaded" : problem};
  }
  [[nodiscard]] void* symbol(void* handle, const char* name) const override { return ::dlsym(handle, name); }
  [[nodiscard]] std::string file_of(void* symbol) const override {
    Dl_info info{};
    if (::dladdr(symbol, &info) == 0 || info.dli_fname == nullptr) return "";
    return info.dli_fname;
  }
};

}  // namespace

const DynamicLibraries& system_libraries() {
  static const SystemLibraries libraries;
  return libraries;
}

}  // namespace plumbline
