#include "gui/io/run_line_json.h"

#include <cmath>

#include "core/base/errors.h"
#include "core/io/json.h"

namespace plumbline::gui {
namespace {

constexpr double nanosecond = 1e-9;

std::optional<double> number_at(const Json& object, std::string_view key) {
  const Json* const value = object.find(key);
  if (value == nullptr) return std::nullopt;
  if (const double* const number = value->if_double()) return *number;
  if (const std::int64_t* const number = value->if_integer()) return static_cast<double>(*number);
  return std::nullopt;
}

}  // namespace

std::optional<RunLine> run_line(std::string_view line) {
  try {
    const Json object = parse_json(line, "plan run");
    const auto step = number_at(object, "step"), loss = number_at(object, "loss");
    if (!step || !loss) return std::nullopt;
    return RunLine{static_cast<std::int64_t>(*step), *loss, number_at(object, "held_out_loss"),
                   number_at(object, "time_ns").value_or(0) * nanosecond,
                   number_at(object, "tokens_per_s").value_or(0)};
  } catch (const InputError&) {
    return std::nullopt;
  }
}

std::optional<RunLine> run_line(const ReportedStep& reported) {
  const StepRecord& step = reported.step;
  if (!std::isfinite(step.loss)) return std::nullopt;
  std::optional<double> held_out = step.held_out_loss;
  if (held_out && !std::isfinite(*held_out)) held_out.reset();
  return RunLine{step.step + 1, step.loss, held_out, static_cast<double>(step.time_ns) * nanosecond,
                 reported.tokens_per_s};
}

}  // namespace plumbline::gui
