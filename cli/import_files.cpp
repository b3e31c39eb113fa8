#include "cli/import_files.h"

#include <iostream>
#include <iterator>

#include "core/base/errors.h"
#include "core/io/json.h"

namespace plumbline {
namespace {

constexpr std::size_t most_bytes = std::size_t{1} << 20;

std::string text_of(const std::string& file) {
  if (file != "-") return read_text_file(file, "a launch script or configuration");
  std::string text;
  for (char c = 0; text.size() <= most_bytes && std::cin.get(c);) text += c;
  return text;
}

}  // namespace

session::ImportRequest import_request(const std::vector<std::string>& files, const std::optional<std::string>& target) {
  session::ImportRequest request;
  if (!target) throw InputError({"--from", "is missing", "whose files they are, such as megatron-lm", ""});
  request.from = *target;
  for (const std::string& file : files) {
    std::string text = text_of(file);
    if (text.size() > most_bytes)
      throw InputError({file, "is larger than 1 MiB", "a launch script or configuration", ""});
    request.files.push_back({file == "-" ? "standard input" : file, std::move(text)});
  }
  return request;
}

}  // namespace plumbline
