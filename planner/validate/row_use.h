#pragma once
/// \file row_use.h: what a measured row may be compared with, how much it proves, and when two rows ask the same.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/measurement/row.h"

namespace plumbline {

enum class RowKind : std::uint8_t { time, memory, fit };
[[nodiscard]] std::string_view to_text(RowKind kind);

/// How much a row proves.
enum class RowTrust : std::uint8_t { trusted, inferred, doubtful };
[[nodiscard]] std::string_view to_text(RowTrust trust);

/// The kinds of comparison that a row is fit for, with what rules the others out.
struct RowUses {
  std::vector<RowKind> kinds;
  std::string reason;  ///< when `kinds` is empty
};
[[nodiscard]] RowUses uses_of(const MeasuredRow& row);

/// Seconds of a step, as published or from the tokens per second and GPU.
[[nodiscard]] std::optional<double> measured_time(const MeasuredRow& row);
/// `fields` after the rules.
[[nodiscard]] RowTrust trust_of(const RowQuestion& question, const RowFields& fields);
/// Everything that was asked, so that two runs of one question have one key. What was asked in a run that is partly
/// known is itself inferred: such a run repeats no other that is known.
[[nodiscard]] std::string question_key(const RowQuestion& question);

}  // namespace plumbline
