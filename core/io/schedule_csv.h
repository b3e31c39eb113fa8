#pragma once
/// \file schedule_csv.h: PyTorch's pipeline-schedule CSV, compute-only: the one neutral form of an action order.
///
/// One line per rank, one cell per action, "0F3": stage 0, forward, micro-batch 3; B is a full backward, I its input
/// gradient, W its weight gradient; "(0F8;7B0)OVERLAP_F_B" is a forward and a backward issued together; an empty cell
/// is an idle slot and is not kept. Source: torch.distributed.pipelining.schedules (`_Action`, `_load_csv`).
/// Reading survives anything: over 64 MiB, over 4 million actions, stages or micro-batches over 2^20, orders that are
/// incomplete or wait for ever are InputErrors that name the source, line and column.
/// Not read: the format with communication, which follows from the compute order; placements other than looped and V.
/// Checked against: tests/error/schedule_csv_test.cpp; orders written by PyTorch in tests/data/pipeline_schedules.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "core/program/compute_schedule.h"

namespace plumbline {

/// `source` names the text in messages. The shape is the smallest that holds all actions, or `expected`, and then what
/// does not belong to that shape is refused. Throws InputError.
[[nodiscard]] ComputeSchedule read_schedule_csv(std::string_view text, std::string_view source,
                                                const std::optional<PipelineShape>& expected = std::nullopt);
/// Throws InputError as above, and for a file that is not there or over 64 MiB.
[[nodiscard]] ComputeSchedule read_schedule_csv_file(const std::filesystem::path& path,
                                                     const std::optional<PipelineShape>& expected = std::nullopt);
/// Lines that end in "\n"; reads back to the same schedule.
[[nodiscard]] std::string to_schedule_csv(const ComputeSchedule& schedule);

}  // namespace plumbline
