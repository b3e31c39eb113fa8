#include "planner/session/strategy_flags.h"

#include "core/base/errors.h"
#include "planner/question/axis_text.h"

namespace plumbline::session {

StrategyFlags::StrategyFlags() {
  for (const StrategyAxis& axis : strategy_axes())
    if (!axis.flag.empty()) texts_.try_emplace(axis.flag);
}

std::optional<std::string>& StrategyFlags::operator[](std::string_view flag) {
  const auto found = texts_.find(flag);
  check(found != texts_.end(), "a strategy has the flag");
  return found->second;
}

const std::optional<std::string>& StrategyFlags::operator[](std::string_view flag) const {
  const auto found = texts_.find(flag);
  check(found != texts_.end(), "a strategy has the flag");
  return found->second;
}

PartialStrategy StrategyFlags::strategy() const {
  PartialStrategy partial;
  for (const StrategyAxis& axis : strategy_axes())
    if (!axis.flag.empty() && (*this)[axis.flag]) read_axis(axis, axis.flag, *(*this)[axis.flag], partial.strategy);
  partial.data_parallel_given = (*this)["--dp"].has_value();
  partial.schedule_given = (*this)["--schedule"].has_value();
  partial.shard_group_given = (*this)["--shard-group"].has_value();
  partial.flash_attention_given = (*this)["--flash-attention"].has_value();
  return partial;
}

std::string StrategyFlags::given_with_import() const {
  StrategyFlags others = *this;
  others["--flash-attention"].reset();
  return others.given();
}

std::string StrategyFlags::given() const {
  for (const StrategyAxis& axis : strategy_axes())
    if (!axis.flag.empty() && (*this)[axis.flag]) return axis.flag;
  return "";
}

}  // namespace plumbline::session
