#include "core/io/json_file.h"

#include <fstream>
#include <system_error>

#include "core/base/errors.h"

namespace plumbline {
std::string read_text_file(const std::filesystem::path& path, std::string_view expected) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) throw InputError({path.string(), "no such file", std::string(expected), ""});
  if (!std::filesystem::is_regular_file(status))
    throw InputError({path.string(), "not a regular file", std::string(expected), ""});
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error) throw EnvironmentError(path.string() + ": cannot read its size: " + error.message());
  if (size > largest_json_text) {
    throw InputError({path.string(), "file of " + std::to_string(size >> 20) + " MiB", "at most 64 MiB", ""});
  }
  std::ifstream file(path, std::ios::binary);
  std::string text(static_cast<std::size_t>(size), '\0');
  if (!file.read(text.data(), static_cast<std::streamsize>(size)))
    throw EnvironmentError(path.string() + ": cannot be read");
  return text;
}

Json read_json_file(const std::filesystem::path& path) {
  return parse_json(read_text_file(path, "a readable JSON file"), path.string());
}

}  // namespace plumbline
