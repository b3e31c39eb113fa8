#include "planner/session/size_flags.h"

#include "planner/question/value_text.h"

namespace plumbline::session {

std::vector<Scaling> SizeFlags::scalings() const {
  const std::string text = scaling.value_or("strong");
  if (text == "strong") return {Scaling::strong};
  if (text == "weak") return {Scaling::weak};
  if (text == "both") return {Scaling::strong, Scaling::weak};
  refuse_choice("--scaling", text, {"strong", "weak", "both"});
}

void SizeFlags::apply(SizeRequest& request) const {
  request.limits = run_limits(days, budget);
  if (pue) request.power_usage_effectiveness = real_number("--pue", *pue, 1, highest_pue);
  if (grid) request.grid_grams_per_kwh = real_number("--grid", *grid, 0, dirtiest_grid);
  request.scalings = scalings();
}

}  // namespace plumbline::session
