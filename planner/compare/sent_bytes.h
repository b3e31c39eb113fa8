#pragma once
/// \file sent_bytes.h: what bytes on the wire are for: the words in which a program and a run can be compared.
///
/// Answers: bytes per purpose, of one rank in one step. Model: a program's collectives are one action for all of their
/// kind in a segment and pass, and reductions of dense and expert gradients are one; a run's are calls in groups. Both
/// sum up to the same purposes. Source: core/cost/step_time.cpp (what sharing states sends), core/program/lower.h.
/// Not modelled: broadcasts and barriers, which no plan has. Checked against: tests/unit/planner/compare.

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/measurement/run_record.h"
#include "core/plan/strategy.h"

namespace plumbline {

enum class SentPurpose : std::uint8_t { tensor, context, expert, pipeline, tied_embedding, gather, reduction, offload };
inline constexpr std::array all_sent_purposes{SentPurpose::tensor,    SentPurpose::context,        SentPurpose::expert,
                                              SentPurpose::pipeline,  SentPurpose::tied_embedding, SentPurpose::gather,
                                              SentPurpose::reduction, SentPurpose::offload};
/// "tensor", ..., "data" for gathered parameters and reduced gradients, "host" for copies to it and back.
[[nodiscard]] std::string_view group_name(SentPurpose purpose);
/// What the runtime calls to serve it: "all_reduce", "all_gather and reduce_scatter", ...
[[nodiscard]] std::string collective_name(SentPurpose purpose, const Strategy& strategy);

[[nodiscard]] std::map<SentPurpose, Bytes> sent_bytes(const RankProgram& rank);
[[nodiscard]] std::map<SentPurpose, Bytes> sent_bytes(const std::vector<SentRecord>& sent);
/// None for a group that is no axis.
[[nodiscard]] std::optional<SentPurpose> purpose_of(const SentRecord& line);

}  // namespace plumbline
