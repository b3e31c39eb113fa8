#include "cli/version_text.h"

#include "core/base/version.h"
#include "runtime/device/device_module.h"
#include "runtime/mpi/mpi_session.h"

namespace plumbline {
namespace {

std::string built_line(const std::string& name, std::string_view value) {
  constexpr std::size_t width = 18;
  std::string line = name;
  line.resize(width, ' ');
  return line.append(value) + "\n";
}

/// The module is a file of its own, which a build may have and an installation not.
std::string cuda_words() {
  const std::string file = find_module(module_folders(), cuda_module_file).string();
  if (!file.empty()) return file;
  return std::string(PLUMBLINE_BUILT_CUDA) + ", no " + cuda_module_file + " beside this program";
}

}  // namespace

std::string version_text() {
  const std::string_view commit = program_commit();
  return "plan " + std::string(program_version()) + "\n" +
         built_line("commit", commit.empty() ? "unknown: built from no checkout" : commit) +
         built_line("compiler", PLUMBLINE_BUILT_COMPILER) + built_line("matrix products", PLUMBLINE_BUILT_PRODUCTS) +
         built_line("allocator", PLUMBLINE_BUILT_ALLOCATOR) +
         built_line("MPI", MpiSession::is_built() ? "built in" : "not built in") +
         built_line("CUDA and NCCL", cuda_words()) + built_line("window", PLUMBLINE_BUILT_WINDOW);
}

}  // namespace plumbline
