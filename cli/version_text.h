#pragma once
/// \file version_text.h: what `plan --version` prints: which program this is, and what was built into it.
///
/// Checked against: tests/integration/cli_test.py.

#include <string>
#include <string_view>

namespace plumbline {

/// "1a2b3c4d5e6f", ", with changes" behind it where the sources differ; empty: they were no checkout of git. Written
/// anew with every build (cmake/PlumblineCommit.cmake).
[[nodiscard]] std::string_view program_commit();

[[nodiscard]] std::string version_text();

}  // namespace plumbline
