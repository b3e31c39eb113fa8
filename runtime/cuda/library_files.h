#pragma once
/// \file library_files.h: where a library of NVIDIA's is looked for while the program runs.
///
/// Answers: files, in the order in which they are tried. Model: what the system's loader finds by name comes first;
/// then the toolkit that the module was built with; then the Python packages of that build and of the virtual
/// environment that this process runs in, whose libraries no loader finds. Source: layout of NVIDIA's wheels
/// (nvidia-cudnn-cu13 9, nvidia-nccl-cu13 2: site-packages/nvidia/NAME/lib). Not modelled: packages of other
/// interpreters. Checked against: tests/cuda/library_files_test.cpp.

#include <optional>
#include <string>
#include <vector>

namespace plumbline {

struct LibraryFolders {
  std::string toolkit;                     ///< empty: unknown
  std::string python_packages;             ///< the same
  std::optional<std::string> environment;  ///< VIRTUAL_ENV
};
/// `package`: NVIDIA's name of it in Python packages ("cudnn").
[[nodiscard]] std::vector<std::string> library_files(const std::string& file, const std::string& package,
                                                     const LibraryFolders& folders);

}  // namespace plumbline
