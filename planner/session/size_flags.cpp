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

const Options<SizeFlags>& size_options() {
  static const Options<SizeFlags> options = [] {
    Options<SizeFlags> rows;
    const auto add = [&](std::optional<std::string> SizeFlags::*text, OptionWords words) {
      rows.push_back(text_option<SizeFlags>(text, std::move(words)));
    };
    add(&SizeFlags::days, {"--days", "DAYS", "the run may take at most so many days"});
    add(&SizeFlags::budget, {"--budget", "DOLLARS", "and cost at most so many dollars, such as 250K"});
    add(&SizeFlags::scaling, {"--scaling", "strong|weak|both",
                              "strong: the batch stays; weak: it grows with the GPUs from the fewest on (strong)"});
    add(&SizeFlags::pue, {"--pue", "RATIO", "energy of the site over that of its computers (world mean)"});
    add(&SizeFlags::grid, {"--grid", "GRAMS", "of CO2 that the grid emits for a kWh (world mean)"});
    return rows;
  }();
  return options;
}

}  // namespace plumbline::session
