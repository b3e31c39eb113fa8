// What is said of a library that is missing, old or lacks a function.
#include "runtime/nccl/nccl_api.h"

#include "tests/catch.h"

namespace plumbline {
namespace {

nccl::Result old_version(int* version) {
  *version = 2'1602;
  return nccl::Result::success;
}
nccl::Result new_version(int* version) {
  *version = 2'2809;
  return nccl::Result::success;
}
const char* text_of(nccl::Result) { return "a text"; }
const char* last_of(nccl::Comm) { return ""; }

class Libraries : public DynamicLibraries {
 public:
  enum class Has { nothing, old_release, three_functions };
  explicit Libraries(Has has) : has_(has) {}
  [[nodiscard]] OpenedLibrary open(const std::string& name) const override {
    if (has_ == Has::nothing) return {nullptr, name + ": cannot open shared object file: No such file or directory"};
    return {const_cast<Libraries*>(this), ""};
  }
  [[nodiscard]] void* symbol(void*, const char* name) const override {
    const std::string of = name;
    if (of == "ncclGetVersion") return reinterpret_cast<void*>(has_ == Has::old_release ? &old_version : &new_version);
    if (of == "ncclGetErrorString") return reinterpret_cast<void*>(&text_of);
    return of == "ncclGetLastError" ? reinterpret_cast<void*>(&last_of) : nullptr;
  }
  [[nodiscard]] std::string file_of(void*) const override { return ""; }

 private:
  Has has_;
};

std::string failure_of(Libraries::Has has) {
  try {
    (void)nccl::load_api(Libraries(has));
  } catch (const EnvironmentError& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("A missing NCCL, an old one and one that lacks a function are said in one sentence") {
  CHECK(failure_of(Libraries::Has::nothing) ==
        "NCCL cannot be loaded: libnccl.so.2: cannot open shared object file: No such file or directory");
  CHECK(failure_of(Libraries::Has::old_release) == "NCCL: libnccl.so.2 is version 2.16, and 2.18 or later is needed");
  CHECK(failure_of(Libraries::Has::three_functions) == "NCCL: libnccl.so.2 has no ncclGetUniqueId");
}

/// Only this one is there.
class OneFile : public Libraries {
 public:
  explicit OneFile(std::string file) : Libraries(Has::three_functions), file_(std::move(file)) {}
  [[nodiscard]] OpenedLibrary open(const std::string& name) const override {
    return name == file_ ? Libraries::open(name) : OpenedLibrary{nullptr, name + ": cannot open"};
  }

 private:
  std::string file_;
};

TEST_CASE("NCCL is loaded from the first file that is there; without any the system's loader is quoted") {
  const auto text_of = [](const std::string& there) {
    try {
      (void)nccl::load_api(OneFile(there), {"libnccl.so.2", "/env/libnccl.so.2"});
    } catch (const EnvironmentError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(text_of("/env/libnccl.so.2") == "NCCL: libnccl.so.2 has no ncclGetUniqueId");  // it was opened
  CHECK(text_of("/elsewhere") == "NCCL cannot be loaded: libnccl.so.2: cannot open");
}

}  // namespace
}  // namespace plumbline
