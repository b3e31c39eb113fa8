// Files of a folder that launch files would replace.
#include <filesystem>
#include <system_error>

#include "core/io/json_file.h"
#include "planner/session/export/export.h"

namespace plumbline::session {

std::vector<std::string> other_files(const std::vector<LaunchFile>& files, const std::string& folder) {
  std::vector<std::string> others;
  for (const LaunchFile& file : files) {
    const std::filesystem::path path = std::filesystem::path(folder) / file.name;
    std::error_code ignored;
    const bool is_there = std::filesystem::exists(std::filesystem::symlink_status(path, ignored));
    const bool is_same = is_there && std::filesystem::is_regular_file(path, ignored) &&
                         std::filesystem::file_size(path, ignored) == file.text.size() &&
                         read_text_file(path, "a launch file") == file.text;
    if (is_there && !is_same) others.push_back(file.name);
  }
  return others;
}

}  // namespace plumbline::session
