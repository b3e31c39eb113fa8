#include "runtime/run/step_report.h"

#include <algorithm>

#include "core/quantity/text.h"
#include "runtime/run/process_memory.h"

namespace plumbline {

std::string tokens_text(const std::vector<std::int32_t>& tokens, TokenMeaning meaning) {
  std::string text;
  for (const std::int32_t token : tokens) {
    if (meaning == TokenMeaning::numbers)
      text += (text.empty() ? "" : " ") + std::to_string(token);
    else
      text += token == '\n' || (token >= ' ' && token <= '~') ? static_cast<char>(token) : '?';
  }
  return text;
}

std::string loss_text(const StepRecord& step) {
  constexpr int digits = 4;
  return fixed(step.loss, digits) +
         (step.held_out_loss ? ", held out " + fixed(*step.held_out_loss, digits) : std::string());
}

void StepReport::note(const StepRecord& step) {
  step_ = step;
  ++done_;
  elapsed_s_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
}

/// At least a nanosecond, so that rates are finite.
double StepReport::seconds() const { return static_cast<double>(std::max<std::int64_t>(1, step_.time_ns)) * 1e-9; }

double StepReport::left_s() const {
  return elapsed_s_ / static_cast<double>(done_) * static_cast<double>(run_.steps - done_);
}

ReportedStep StepReport::reported() const {
  return {step_,
          static_cast<double>(run_.tokens_per_step) / seconds(),
          run_.speed.model_flops_per_second(seconds()),
          run_.speed.utilisation(seconds()),
          run_.speed.peak_source,
          left_s(),
          run_.unigram_entropy,
          generated_};
}

std::string StepReport::line() const {
  const ReportedStep now = reported();
  return "step " + std::to_string(step_.step + 1) + " of " + std::to_string(step_.step + 1 + run_.steps - done_) +
         ", loss " + loss_text(step_) + ", " + grouped(static_cast<std::int64_t>(now.tokens_per_s)) + " tokens/s, " +
         to_text(now.model_flops) + " (" + fixed(100 * now.utilisation, 1) + " %" + "), " +
         to_text(process_resident_bytes()) + ", " + to_text(Seconds(now.time_left_s)) + " left";
}

}  // namespace plumbline
