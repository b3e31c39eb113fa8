#include "runtime/cuda/cublaslt.h"

namespace plumbline {
namespace {

/// Looks functions up, and remembers the first that is not there.
class Lookup {
 public:
  Lookup(const DynamicLibraries& libraries, void* handle) : libraries_(libraries), handle_(handle) {}
  template <class Function>
  void operator()(Function*& function, const char* name) {
    function = function_of<Function>(libraries_, handle_, name);
    if (function == nullptr && missing_.empty()) missing_ = name;
  }
  [[nodiscard]] const std::string& missing() const { return missing_; }

 private:
  const DynamicLibraries& libraries_;
  void* handle_;
  std::string missing_;
};

FoundCublasLt functions_in(const DynamicLibraries& libraries, void* handle, const std::string& file) {
  FoundCublasLt found;
  CublasLt& f = found.functions;
  Lookup look(libraries, handle);
  look(f.create, "cublasLtCreate");
  look(f.destroy, "cublasLtDestroy");
  look(f.layout_create, "cublasLtMatrixLayoutCreate");
  look(f.layout_destroy, "cublasLtMatrixLayoutDestroy");
  look(f.description_create, "cublasLtMatmulDescCreate");
  look(f.description_destroy, "cublasLtMatmulDescDestroy");
  look(f.description_set, "cublasLtMatmulDescSetAttribute");
  look(f.preference_create, "cublasLtMatmulPreferenceCreate");
  look(f.preference_destroy, "cublasLtMatmulPreferenceDestroy");
  look(f.preference_set, "cublasLtMatmulPreferenceSetAttribute");
  look(f.heuristic, "cublasLtMatmulAlgoGetHeuristic");
  look(f.matmul, "cublasLtMatmul");
  if (!look.missing().empty()) found.problem = file + ": has no " + look.missing();
  return found;
}

}  // namespace

FoundCublasLt load_cublaslt(const DynamicLibraries& libraries, const std::vector<std::string>& files) {
  FoundCublasLt found;
  found.problem = "no file of cuBLASLt is known";
  bool is_first = true;
  for (const std::string& file : files) {
    const OpenedLibrary opened = libraries.open(file);
    FoundCublasLt here;
    here.problem = opened.problem;
    if (opened.handle != nullptr) here = functions_in(libraries, opened.handle, file);
    if (here.problem.empty()) return here;
    if (is_first) found.problem = here.problem;  // what the system's loader said
    is_first = false;
  }
  return found;
}

}  // namespace plumbline
