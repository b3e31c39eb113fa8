#pragma once
/// \file source_folder.h: where the files are that tests read.
///
/// One source file knows it, so that the compiler cache serves every clone with the rest.

#include <string>

namespace plumbline {

/// Of this checkout.
[[nodiscard]] std::string source_folder();
[[nodiscard]] std::string test_data_folder();

}  // namespace plumbline
