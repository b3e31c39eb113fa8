#pragma once
/// \file open_file.h: a file that was dropped on the window or named on the command line: what it is, and what it
/// holds.
///
/// Checked against: tests/gui/files/open_file_test.cpp (broken and huge files).

#include <optional>
#include <string>
#include <variant>

#include "gui/io/window_json.h"
#include "gui/page.h"

namespace plumbline::gui {

struct ModelFile {
  std::string path;
};
struct MachineFile {
  std::string path;
};
struct RecordFile {
  std::string path;
};
using OpenedFile = std::variant<SharedPlan, WindowState, ModelFile, MachineFile, RecordFile>;

/// Reads a plan or a session wholly; of others it tells what they are. Throws InputError and EnvironmentError; takes as
/// long as pricing a plan takes.
[[nodiscard]] OpenedFile open_file(const std::string& path);

/// The request's plan priced as everything is now. Throws as session::estimate.
[[nodiscard]] SharedPlan priced(session::EstimateRequest request, const session::RunLimits& limits = {});
/// One that a search found, under its question.
[[nodiscard]] SharedPlan priced(const Plan& plan, const QuestionText& question, const session::RunLimits& limits = {});

}  // namespace plumbline::gui
