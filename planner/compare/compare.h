#pragma once
/// \file compare.h: a plan's prediction held against a record of its run: time, memory and bytes on the wire.
///
/// Answers: line by line, both sides; whether every byte count is equal; what a difference most likely comes from.
/// Model: the predicted side is the plan file lowered and simulated again; nothing of it comes from the record. Memory
/// is that of the moment when all classes together are most. Of a stage's ranks the one that differs most from the
/// prediction stands for them. Bytes on the wire are summed by what they are for: a program's action is one of a kind
/// in its segment and pass, whatever calls the runtime made of it. Time is compared by kind of action: the sum over a
/// stage's actions, measured as the mean of its ranks' medians. Rows that a router sends to experts are known to the
/// record alone: where they are not dealt out equally, what they make of the prediction is a third number, and what
/// bytes must be equal to. Source: core/program/program.h, core/simulate/simulation.h, core/measurement/run_record.h.
/// Not modelled: groups that are no axis of a plan (norms, flags, losses): they are listed and not compared. Checked
/// against: tests/unit/planner/compare/compare_test.cpp (a record made from a program is equal; one byte more or less
/// anywhere is found).

#include <optional>

#include "core/cost/routed_sizes.h"
#include "core/measurement/run_record.h"
#include "planner/compare/device_memory.h"
#include "planner/pricing/simulated.h"

namespace plumbline {

struct MemoryLine {
  std::int32_t stage = 0;
  std::string memory_class;  ///< "total": of all classes at one time
  Bytes predicted{0};
  Bytes measured{0};
  std::string cause;  ///< of a difference
  Bytes routed{0};    ///< predicted, for the rows that the rank's experts got
  [[nodiscard]] bool is_equal() const { return routed == measured; }
};

struct SentLine {
  std::int32_t stage = 0;
  std::string group;
  std::string collective;
  Bytes predicted{0};  ///< of one rank, per step
  Bytes measured{0};
  std::string cause;
  Bytes routed{0};  ///< as that of memory
  [[nodiscard]] bool is_equal() const { return routed == measured; }
};

struct ActionLine {
  std::int32_t stage = 0;
  ActionKind kind = ActionKind::forward;
  std::int64_t actions = 0;  ///< of one rank in a step
  Seconds predicted{0};
  Seconds measured{0};
};

struct Comparison {
  Interval predicted_step_s;
  double measured_step_s = 0;  ///< median after the warm-up
  std::vector<MemoryLine> memory;
  std::vector<SentLine> communication;
  std::vector<SentRecord> unplanned;  ///< of rank 0, in groups that are no axis
  std::vector<ActionLine> actions;
  std::vector<double> losses;
  std::vector<Bytes> arenas;       ///< per stage
  std::vector<DeviceLine> device;  ///< of devices with memory of their own
  std::string step_cause;          ///< what most of the difference of the step is; empty: the interval holds it

  [[nodiscard]] bool bytes_are_equal() const;
  /// Whether rows of experts make another prediction than balance does.
  [[nodiscard]] bool is_routed_unequally() const;
};

/// Throws InputError when the record is of another plan, or does not have the ranks and stages that the plan has.
void require_same_plan(const Plan& plan, const Graph& graph, const RunRecord& record, const std::string& record_name);
/// `graph`: of the plan, as trained.
/// But for `device`, which asks for a stack (device_memory.h). `apart`: bytes of each rank that are no tensors, and are
/// compared there.
[[nodiscard]] Comparison compare(const Plan& plan, const Graph& graph, const SimulatedPlan& simulated,
                                 const RunRecord& record, const MemoryBreakdown& apart = {});

}  // namespace plumbline
