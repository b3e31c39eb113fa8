#pragma once
/// \file golden_file.h: compares a text with a file of tests/golden; scripts/regenerate_golden.sh writes them anew.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include "tests/source_folder.h"

namespace plumbline {

/// The golden file's text. With PLUMBLINE_REGENERATE set the file is written first, from `actual`.
[[nodiscard]] inline std::string golden_text(const std::string& name, const std::string& actual) {
  const std::filesystem::path path = std::filesystem::path(source_folder()) / "tests/golden" / name;
  if (std::getenv("PLUMBLINE_REGENERATE") != nullptr) std::ofstream(path, std::ios::binary) << actual;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace plumbline
