#pragma once
/// \file run_line_json.h: a line that `plan run --json` writes: a step of the run.
///
/// Checked against: tests/gui/io/run_line_json_test.cpp.

#include <cstdint>
#include <optional>
#include <string_view>

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

}  // namespace plumbline::gui
