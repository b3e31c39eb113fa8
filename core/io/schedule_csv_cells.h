#pragma once
/// \file schedule_csv_cells.h: the cells of a pipeline-schedule CSV, before it is known which stage is where.
///
/// Source: torch.distributed.pipelining.schedules (`_Action.from_str`), read strictly: PyTorch itself ignores what
/// follows a well-formed action. Not modelled: communication actions, which are refused by name.
/// Checked against: tests/error/schedule_csv_test.cpp.

#include <string_view>
#include <vector>

#include "core/program/action.h"

namespace plumbline {

/// An action as written: with its global stage, and where it is in the file.
struct CsvAction {
  ActionKind kind = ActionKind::forward;
  std::int32_t stage = 0;
  std::int32_t micro_batch = 0;
  Overlap overlap = Overlap::none;
  std::size_t line = 1;
  std::size_t column = 1;
};

/// One list per line. Throws InputError.
[[nodiscard]] std::vector<std::vector<CsvAction>> read_csv_actions(std::string_view text, std::string_view source);

/// "source:line:column", for messages.
[[nodiscard]] std::string csv_place(std::string_view source, std::size_t line, std::size_t column);

}  // namespace plumbline
