#pragma once
/// \file run_use.h: what a measured run may be compared with, how much it proves, and when two runs ask the same.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/measurement/measured_run.h"
#include "planner/question/question.h"

namespace plumbline {

enum class RunKind : std::uint8_t { time, memory, fit };
[[nodiscard]] std::string_view to_text(RunKind kind);

/// How much a run proves.
enum class RunTrust : std::uint8_t { trusted, inferred, doubtful };
[[nodiscard]] std::string_view to_text(RunTrust trust);

/// The kinds of comparison that a run is fit for, with what rules the others out.
struct RunUses {
  std::vector<RunKind> kinds;
  std::string reason;  ///< when `kinds` is empty
};
[[nodiscard]] RunUses uses_of(const MeasuredRun& run);

/// Seconds of a step: as published, or what a published rate takes for the step that `question` asks for. A rate of
/// executed FLOPs (Korthikanti et al., arXiv:2205.05198: HFU) needs to know what `strategy` recomputes. The run has a
/// time.
[[nodiscard]] double measured_time(const MeasuredRun& run, const Question& question, const Strategy& strategy);
/// `fields` after the rules.
[[nodiscard]] RunTrust trust_of(const RunQuestion& question, const RunFields& fields);
/// Everything that was asked, so that two runs of one question have one key. What was asked in a run that is partly
/// known is itself inferred: such a run repeats no other that is known.
[[nodiscard]] std::string question_key(const RunQuestion& question);

}  // namespace plumbline
