#pragma once
/// \file run_line_json.h: a step of a run, as a line that `plan run --json` writes or as a value of this process.
///
/// Checked against: tests/gui/io/run_line_json_test.cpp.

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/measurement/reported_step.h"

namespace plumbline::gui {

struct RunLine {
  std::int64_t step = 0;  ///< from 1
  double loss = 0;
  std::optional<double> held_out_loss;
  double seconds = 0;
  double tokens_per_second = 0;  ///< 0: not said
};
/// Nothing: the line is none of a step.
[[nodiscard]] std::optional<RunLine> run_line(std::string_view line);
/// Of the line that `plan run --json` would write of it; nothing where its loss is no number.
[[nodiscard]] std::optional<RunLine> run_line(const ReportedStep& reported);

}  // namespace plumbline::gui
