#include "cli/step_report.h"

#include <algorithm>

#include "cli/plan_view.h"
#include "core/io/run_record_json.h"
#include "core/quantity/text.h"
#include "runtime/process_memory.h"

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

std::string StepReport::line() const {
  const double tokens_per_s = static_cast<double>(run_.tokens_per_step) / seconds();
  return "step " + std::to_string(step_.step + 1) + " of " + std::to_string(step_.step + 1 + run_.steps - done_) +
         ", loss " + loss_text(step_) + ", " + grouped(static_cast<std::int64_t>(tokens_per_s)) + " tokens/s, " +
         to_text(run_.speed.model_flops_per_second(seconds())) + " (" +
         per_cent_text(run_.speed.utilisation(seconds())) + "), " + to_text(process_resident_bytes()) + ", " +
         to_text(Seconds(left_s())) + " left";
}

Json StepReport::json() const {
  Json::Object object = *to_json(step_).if_object();
  object.emplace_back("tokens_per_s", static_cast<double>(run_.tokens_per_step) / seconds());
  object.emplace_back("model_flops_per_s", run_.speed.model_flops_per_second(seconds()).value());
  object.emplace_back("utilisation", run_.speed.utilisation(seconds()));
  object.emplace_back("utilisation_of", run_.speed.peak_source);
  object.emplace_back("time_left_s", left_s());
  object.emplace_back("unigram_entropy", run_.unigram_entropy);
  if (!generated_.empty()) object.emplace_back("generated", generated_);
  return object;
}

}  // namespace plumbline
