#include "gui/io/run_line_json.h"

#include "core/base/errors.h"
#include "core/io/json.h"

namespace plumbline::gui {
namespace {

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
    constexpr double nanosecond = 1e-9;
    return RunLine{static_cast<std::int64_t>(*step), *loss, number_at(object, "held_out_loss"),
                   number_at(object, "time_ns").value_or(0) * nanosecond,
                   number_at(object, "tokens_per_s").value_or(0)};
  } catch (const InputError&) {
    return std::nullopt;
  }
}

}  // namespace plumbline::gui
