#pragma once
/// \file edited_machine_file.h: a cluster with edited numbers as a file that every question, plan and run can name.
///
/// Files stay in the user's data folder, so that a plan that was exported is priced by the same numbers later; the
/// same numbers are the same file. Checked against: tests/gui/machine/machine_numbers_test.cpp.

#include <string>
#include <string_view>
#include <vector>

#include "gui/machine/machine_numbers.h"

namespace plumbline::gui {

/// Its path. Throws InputError as `edited_machine`, and EnvironmentError. From any thread.
[[nodiscard]] std::string edited_machine_file(std::string_view machine, const std::vector<MachineEdit>& edits);

}  // namespace plumbline::gui
