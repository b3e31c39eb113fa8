#include "models/name_or_path.h"

#include <algorithm>
#include <filesystem>

#include "models/import/onnx/reference.h"

namespace plumbline {
namespace {

namespace fs = std::filesystem;

/// "file" or "folder" where something that could be read has this name, else empty.
std::string_view readable_kind(const fs::path& path, std::string_view folder_file) {
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  if (!fs::exists(status)) return "";
  if (!fs::is_directory(status)) return "file";
  return !folder_file.empty() && fs::exists(path / folder_file, ignored) ? "folder" : "";
}

NameOrPath of_folder_and_name(std::string_view text, const CatalogueMatch& match) {
  const fs::path path(text);
  const std::string shown(text.substr(0, 100));
  std::error_code ignored;
  if (fs::exists(path, ignored)) return {true, shown + " is read from here; the catalogue's is called " + match.name};
  if (match.is_exact) return {};
  if (fs::is_directory(path.parent_path(), ignored)) return {true, ""};
  return {false, "there is no file " + shown + ": it is taken for " + match.name + " of the catalogue"};
}

}  // namespace

bool is_explicit_path(std::string_view text) {
  return text.starts_with(".") || text.starts_with("/") || text.starts_with("~") || text.ends_with("/") ||
         text.ends_with(".json") || onnx::is_reference(text) || std::count(text.begin(), text.end(), '/') > 1;
}

NameOrPath name_or_path(std::string_view text, const CatalogueMatch& match, std::string_view folder_file) {
  if (is_explicit_path(text)) return {true, ""};
  std::error_code ignored;
  if (match.name.empty()) return {fs::exists(fs::path(text), ignored), ""};
  if (text.find('/') != std::string_view::npos) return of_folder_and_name(text, match);
  const std::string_view kind = readable_kind(fs::path(text), folder_file);
  if (kind.empty()) return {};
  const std::string name(text);
  return {false, name + " is the catalogue's; the " + std::string(kind) + " of that name is read as ./" + name};
}

}  // namespace plumbline
