#include "runtime/cuda/library_files.h"

#include <algorithm>
#include <filesystem>

namespace plumbline {
namespace {

/// "ENVIRONMENT/lib/python3.11/site-packages"; more than one where several interpreters share it.
std::vector<std::string> packages_of(const std::string& environment) {
  std::vector<std::string> found;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(environment + "/lib", failed))
    if (entry.path().filename().string().rfind("python3", 0) == 0) found.push_back(entry.path() / "site-packages");
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

std::vector<std::string> library_files(const std::string& file, const std::string& package,
                                       const LibraryFolders& folders) {
  std::vector<std::string> files{file};
  if (!folders.toolkit.empty()) files.push_back(folders.toolkit + "/" + file);
  std::vector<std::string> packages;
  if (!folders.python_packages.empty()) packages.push_back(folders.python_packages);
  if (folders.environment)
    for (std::string& one : packages_of(*folders.environment)) packages.push_back(std::move(one));
  for (const std::string& one : packages) files.push_back(one + "/nvidia/" + package + "/lib/" + file);
  return files;
}

}  // namespace plumbline
