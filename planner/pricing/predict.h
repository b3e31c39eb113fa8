#pragma once
/// \file predict.h: the parts of a priced plan: prediction, cost of the run, verdict.
///
/// Model: step time and memory from core/cost; intervals that should hold nine of ten measurements from the residuals
/// of device and stack calibration and the distance from measured runs (trust.h); MFU counts the model's FLOPs with
/// full attention over the peak of the recipe's product format, `mfu_causal` half of a causal attention's products
/// alone, HFU those that were executed, recompute included (docs/cli.md, MFU).
/// Source: Chowdhery et al., arXiv:2204.02311, appendix B (MFU); Korthikanti et al., arXiv:2205.05198 (HFU).
/// Not modelled: start-up, evaluation, checkpoints and failures of the run.
/// Checked against: tests/unit/planner/pricing/predict_test.cpp (causal FLOPs by hand).

#include "core/cost/stage_cost.h"
#include "core/plan/plan.h"
#include "planner/question/question.h"

namespace plumbline {

/// FLOPs of a whole step over all ranks, as MFU counts them: the whole square of attention, without recompute.
[[nodiscard]] Flops model_flops(const Question& question);
[[nodiscard]] Prediction predict(const Question& question, const StageTable& stages, const Strategy& strategy);
/// Zero without a token budget.
[[nodiscard]] RunCost run_cost(const Question& question, const Prediction& prediction);
/// `strategy`: that was predicted; `host`: of a node, what its ranks may need.
[[nodiscard]] Verdict verdict_of(const Question& question, const Prediction& prediction, const Strategy& strategy,
                                 Bytes host);

}  // namespace plumbline
