#pragma once
/// \file fake_libraries.h: shared libraries that a test makes up: names, and functions of the test in them.

#include <map>

#include "runtime/device/dynamic_libraries.h"

namespace plumbline {

class FakeLibraries : public DynamicLibraries {
 public:
  using Functions = std::map<std::string, void*>;

  /// Function pointers as dlsym gives them.
  template <class Function>
  static void* pointer(Function* function) {
    return reinterpret_cast<void*>(function);
  }
  FakeLibraries& with(const std::string& name, Functions functions) {
    libraries_[name] = std::move(functions);
    return *this;
  }
  [[nodiscard]] OpenedLibrary open(const std::string& name) const override {
    const auto found = libraries_.find(name);
    if (found == libraries_.end()) return {nullptr, name + ": cannot open shared object file"};
    return {const_cast<Functions*>(&found->second), ""};
  }
  [[nodiscard]] void* symbol(void* handle, const char* name) const override {
    const auto& functions = *static_cast<Functions*>(handle);
    const auto found = functions.find(name);
    return found == functions.end() ? nullptr : found->second;
  }
  [[nodiscard]] std::string file_of(void* symbol) const override {
    for (const auto& [name, functions] : libraries_)
      for (const auto& [function, pointer] : functions)
        if (pointer == symbol) return "/lib/" + name;
    return "";
  }

 private:
  std::map<std::string, Functions> libraries_;
};

}  // namespace plumbline
