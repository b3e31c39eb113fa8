#pragma once
/// \file fit_limits.h: the most that fits: what `plan fit` answers without a global batch.
///
/// Answers, each with the rest of the question as it is: the largest micro-batch, the longest sequence, the largest
/// model of a family, the fewest GPUs; how far each fits surely, which is in 95 of 100 cases, and how far it is
/// predicted to fit; a plan at both and what keeps the next value from fitting. Whether a plan fits is its verdict
/// (estimate.h), headroom included.
/// Model: where strategy flags are given, that strategy; else any plan that the stack's framework launches (search.h),
/// the fastest that fits. A step has two micro-batches for each pipeline stage, under a free strategy two for each GPU,
/// so that every schedule is legal and gradients are accumulated. Micro-batches, sequences and GPUs are doubled and
/// then bisected: what fits is taken to grow with each. Models are tried one by one. Sequences are multiples of 128
/// tokens that the degrees divide, or of 256 under a free strategy. Checked against:
/// tests/unit/planner/session/fit/fit_limits_test.cpp (each limit fits, the next value does not).

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "planner/question/task.h"
#include "planner/session/launchable.h"
#include "planner/session/question_flags.h"
#include "planner/session/strategy_flags.h"

namespace plumbline::session {

enum class LimitKind : std::uint8_t { micro_batch, sequence, model, devices };
inline constexpr std::array all_limit_kinds{LimitKind::micro_batch, LimitKind::sequence, LimitKind::model,
                                            LimitKind::devices};
/// "micro_batch", "sequence_length", "model", "devices".
[[nodiscard]] std::string_view to_text(LimitKind kind);

/// Of a micro-batch, sequences; of a sequence, tokens: where a limit is not looked for beyond.
inline constexpr std::int64_t most_limit_micro_batch = 1 << 20;
inline constexpr std::int64_t most_limit_devices = 16'384;

struct FitLimitsRequest {
  QuestionText question;                    ///< its global batch is not read; without a model, the family's largest
  std::optional<PartialStrategy> strategy;  ///< nothing: any
  std::string family;                       ///< empty: that of the model
};

/// The first value that does not fit.
struct Beyond {
  std::int64_t value = 0;
  std::string model;  ///< of LimitKind::model
  std::string reason;
};

/// The last value whose plan fits beyond the uncertainty of the estimate.
struct SureLimit {
  std::int64_t value = 0;  ///< as FitLimit's
  Plan plan;
};

struct FitLimit {
  LimitKind kind = LimitKind::micro_batch;
  std::int64_t value = 0;        ///< 0: not even the smallest fits; of a model 1
  std::optional<Plan> plan;      ///< at the limit
  std::optional<Beyond> beyond;  ///< nothing: the limit is not the memory's (`note`)
  std::string note;              ///< a phrase, such as that a sequence is longer than the model was made for; or empty
  std::optional<SureLimit> sure{};  ///< nothing: no value is sure
};

struct FitLimits {
  FitLimitsRequest request;   ///< with the model, the family and the defaults filled in
  FrameworkChoice framework;  ///< whose plans a free strategy is chosen from
  std::string warning;        ///< on names that could also be files; or empty
  std::vector<FitLimit> limits;
  bool complete = true;
};

/// The question as far as it is given, and the strategy where a flag of it is. Throws InputError naming the flag.
[[nodiscard]] FitLimitsRequest limits_request(const QuestionFlags& question, const StrategyFlags& strategy);
/// Throws InputError for a question or a strategy that is wrong whatever the batch. Phases: the limits by name.
[[nodiscard]] FitLimits fit_limits(const FitLimitsRequest& request, const Task& task = {});

}  // namespace plumbline::session
