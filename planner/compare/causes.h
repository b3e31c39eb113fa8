#pragma once
/// \file causes.h: what a difference between plan and run most likely comes from, in words.
///
/// Model: bytes that differ are a fault of one side, so the words name the place to look; seconds that differ are the
/// kinds of action whose difference is largest. Not modelled: several causes at once beyond the largest.
/// Checked against: tests/unit/planner/compare/compare_test.cpp.

#include "planner/compare/compare.h"

namespace plumbline {

[[nodiscard]] std::string memory_cause(MemoryClass memory_class);
/// `predicted` and `measured` differ.
[[nodiscard]] std::string sent_cause(Bytes predicted, Bytes measured);
/// Of a difference between balance and the rows that experts got; empty without one.
[[nodiscard]] std::string routing_cause(Bytes in_balance, Bytes routed);
/// Empty when the interval holds the measured step, or nothing was timed.
[[nodiscard]] std::string step_cause(const Comparison& comparison, const Plan& plan, const RunRecord& record);

}  // namespace plumbline
