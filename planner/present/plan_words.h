#pragma once
/// \file plan_words.h: a plan in sentences: what was asked, what is chosen, what is predicted, how far to trust it.
///
/// One line each, not wrapped, without a line end.
/// Checked against: tests/unit/planner/present/plan_words_test.cpp.

#include <string>
#include <vector>

#include "core/plan/plan.h"

namespace plumbline::present {

/// "gpt2 (124 M parameters) on 8 x H100-SXM-80GB (dgx-h100), sequence 1024, global batch 64".
[[nodiscard]] std::string question_words(const Plan& plan);
/// "tp 2 dp 4 mbs 1 x 16, bf16, adamw".
[[nodiscard]] std::string strategy_words(const Strategy& strategy, const Training& training);
/// "stack megatron-core-0.12 (default), fp32 gradients, calibrated by many runs, 90 % intervals".
/// Of a mixed cluster: which devices each stage holds, and which layers; else empty.
[[nodiscard]] std::string placement_words(const Layout& layout);
[[nodiscard]] std::string basis_words(const Plan& plan);
/// What the prediction rests on where that is not many runs near to it; empty otherwise.
[[nodiscard]] std::string trust_words(const Trust& trust);
/// Tokens, samples or images per second, MFU (with causal attention where that is less), HFU, bubble.
[[nodiscard]] std::string throughput_words(const Plan& plan);
/// "1.5 days, 576 GPU-hours, $1 000, 250 kWh" of the whole run.
[[nodiscard]] std::string run_words(const RunCost& run);
/// "3.48 GiB (3.21 to 3.78)".
[[nodiscard]] std::string peak_words(const Prediction& prediction);

enum class Fit { no, near_edge, yes };
[[nodiscard]] Fit fit_of(const Verdict& verdict);
/// "does not fit", "fits, near the edge", "fits".
[[nodiscard]] std::string_view fit_words(Fit fit);

}  // namespace plumbline::present
