#pragma once
/// \file dynamic_libraries.h: shared libraries that are looked for while the program runs.
///
/// Answers: whether a library can be loaded, why not, and where its functions are. What is loaded stays loaded. Tests
/// answer with functions of their own. Source: dlopen(3). Checked against:
/// tests/runtime/device/dynamic_libraries_test.cpp.

#include <string>

namespace plumbline {

struct OpenedLibrary {
  void* handle = nullptr;  ///< none: it was not loaded
  std::string problem;     ///< then: why, as the system says it
};

class DynamicLibraries {
 public:
  DynamicLibraries() = default;
  DynamicLibraries(const DynamicLibraries&) = delete;
  DynamicLibraries& operator=(const DynamicLibraries&) = delete;
  virtual ~DynamicLibraries() = default;

  /// `name`: a path, or a file that the system's loader looks for in its folders.
  [[nodiscard]] virtual OpenedLibrary open(const std::string& name) const = 0;
  /// Null: there is no such function.
  [[nodiscard]] virtual void* symbol(void* handle, const char* name) const = 0;
  /// The file that a function lies in; empty: unknown.
  [[nodiscard]] virtual std::string file_of(void* symbol) const = 0;
};

/// Those of this computer.
[[nodiscard]] const DynamicLibraries& system_libraries();

/// A function of a library, or null.
template <class Function>
[[nodiscard]] Function* function_of(const DynamicLibraries& libraries, void* handle, const char* name) {
  return reinterpret_cast<Function*>(libraries.symbol(handle, name));
}

}  // namespace plumbline
