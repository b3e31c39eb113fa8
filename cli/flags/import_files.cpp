#include "cli/flags/import_files.h"

#include <iostream>

#include "core/io/json.h"
#include "core/io/json_file.h"

namespace plumbline {
namespace {

std::string text_of(const std::string& file) {
  if (file != "-") return read_text_file(file, "a launch script or configuration");
  std::string text;
  for (char c = 0; text.size() <= session::most_launch_file_bytes && std::cin.get(c);) text += c;
  return text;
}

}  // namespace

session::ImportRequest import_request(const std::vector<std::string>& files, const std::optional<std::string>& target) {
  session::ImportRequest request;
  request.from = session::required_target(target);
  for (const std::string& file : files) request.files.push_back({file == "-" ? "standard input" : file, text_of(file)});
  return request;
}

}  // namespace plumbline
