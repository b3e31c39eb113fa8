#pragma once
/// \file built_folders.h: the folders of libraries that this module was built with. Not for tests, which have none.
///
/// Checked against: tests/cuda/library_files_test.cpp (what is made of them).

#include "runtime/cuda/library_files.h"
#include "runtime/mpi/launch_place.h"

namespace plumbline {

/// PLUMBLINE_CUDA_LIBRARIES and PLUMBLINE_PYTHON_PACKAGES: runtime/cuda/CMakeLists.txt.
[[nodiscard]] inline LibraryFolders built_folders() {
#if defined(PLUMBLINE_CUDA_LIBRARIES) && defined(PLUMBLINE_PYTHON_PACKAGES)
  return {PLUMBLINE_CUDA_LIBRARIES, PLUMBLINE_PYTHON_PACKAGES, process_environment("VIRTUAL_ENV")};
#else
  return {};
#endif
}

}  // namespace plumbline
