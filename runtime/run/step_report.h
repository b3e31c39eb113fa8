#pragma once
/// \file step_report.h: what `run` says of each step while it goes on: a line of progress, or a value.

#include <chrono>
#include <string>
#include <vector>

#include "core/measurement/reported_step.h"
#include "runtime/run/run_speed.h"

namespace plumbline {

/// Tokens as what they stand for: bytes of a text, or numbers.
enum class TokenMeaning : std::uint8_t { bytes, numbers };
/// Of a text, what is no printable ASCII character and no line break is a "?".
[[nodiscard]] std::string tokens_text(const std::vector<std::int32_t>& tokens, TokenMeaning meaning);

/// What a report knows before the first step.
struct ReportedRun {
  std::int64_t steps = 0;  ///< of this run
  std::int64_t tokens_per_step = 0;
  double unigram_entropy = 0;  ///< of what is trained on
  RunSpeed speed;
  TokenMeaning meaning = TokenMeaning::bytes;
};

class StepReport {
 public:
  explicit StepReport(ReportedRun run) : run_(std::move(run)), begin_(std::chrono::steady_clock::now()) {}

  void note_generated(const std::vector<std::int32_t>& tokens) { generated_ = tokens_text(tokens, run_.meaning); }
  /// To be called once a step; what is asked below is of the last one noted.
  void note(const StepRecord& step);

  /// "step 12 of 100, loss 3.214, held out 3.301, 2 345 tokens/s, 120 GFLOP/s (64.0 %), 310 MiB, 21 s left".
  [[nodiscard]] std::string line() const;
  [[nodiscard]] ReportedStep reported() const;

 private:
  [[nodiscard]] double seconds() const;
  /// By the mean time of the steps so far, with the evaluations and checkpoints between them.
  [[nodiscard]] double left_s() const;

  ReportedRun run_;
  std::chrono::steady_clock::time_point begin_;
  StepRecord step_;
  std::int64_t done_ = 0;
  double elapsed_s_ = 0;
  std::string generated_;
};

/// "3.2140", or "3.2140, held out 3.3011" where it was evaluated.
[[nodiscard]] std::string loss_text(const StepRecord& step);

}  // namespace plumbline
