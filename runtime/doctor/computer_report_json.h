#pragma once
/// \file computer_report_json.h: the answer of `plan doctor --json` ("plumbline.doctor/1").
///
/// Checked against: tests/runtime/doctor/computer_report_test.cpp, tests/integration/doctor_test.py.

#include "core/io/json.h"
#include "runtime/doctor/computer_report.h"

namespace plumbline {

[[nodiscard]] Json to_json(const ComputerReport& report);

}  // namespace plumbline
