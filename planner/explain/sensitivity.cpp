#include "planner/explain/sensitivity.h"

#include <algorithm>
#include <cmath>

#include "core/cost/calibration_fields.h"
#include "core/quantity/text.h"
#include "planner/pricing/peak_memory.h"
#include "planner/pricing/priced.h"

namespace plumbline {
namespace {

constexpr double matters_from = 0.005;

struct Price {
  double step = 0;
  double memory = 0;
};

Price price(const Question& question, const Strategy& strategy) {
  const std::vector<BlockCost> blocks = block_costs(question, strategy);
  const StageLayout layout = layout_of(question, strategy, blocks);
  const StageTable stages(question.graph(), layout, blocks);
  return {static_cast<double>(question.step_pricer().total(stages, strategy).value()),
          static_cast<double>(peak_memory(question, stages, strategy).value())};
}

class Collector {
 public:
  Collector(const Question& question, const Strategy& strategy, const Task& task)
      : question_(question),
        strategy_(strategy),
        task_(task),
        base_(price(question, strategy)),
        moved_(question.calibration()) {}

  /// Moves one coefficient of `moved_` (named for the reader) and puts it back.
  void try_moving(const std::string& name, Coefficient& coefficient, double largest) {
    if (coefficient.kind != "assumed" || coefficient.relative_sigma <= 0 || task_.is_stopped()) return;
    task_.report({.phase = "assumed numbers", .done = ++tried_});
    const Coefficient original = coefficient;
    coefficient.value = std::min(largest, original.value * (1 + original.relative_sigma));
    const Price moved = price(question_.with_calibration(moved_), strategy_);
    coefficient = original;
    const Sensitivity effect{{name, original.value, original.source},
                             original.relative_sigma,
                             moved.step / base_.step - 1,
                             moved.memory / base_.memory - 1};
    if (strength(effect) >= matters_from) found_.push_back(effect);
  }

  template <class Owner, class Fields>
  void try_fields(Owner& owner, const Fields& fields) {
    for (const auto& field : fields)
      try_moving(owner.name + " " + std::string(field.key), field.of(owner), field.largest);
  }

  std::vector<Sensitivity> collect() {
    for (ProductEfficiency& product : moved_.device.products) {
      const std::string prefix = moved_.device.name + " " + std::string(to_text(product.format));
      try_moving(prefix + " peak_fraction", product.peak_fraction, 1.0);
      try_moving(prefix + " half_depth", product.half_depth, HUGE_VAL);
    }
    try_fields(moved_.device, device_fields);
    try_fields(moved_.stack, stack_fields);
    std::stable_sort(found_.begin(), found_.end(),
                     [](const Sensitivity& a, const Sensitivity& b) { return strength(a) > strength(b); });
    return std::move(found_);
  }

 private:
  static double strength(const Sensitivity& s) { return std::max(std::fabs(s.step_time), std::fabs(s.peak_memory)); }

  const Question& question_;
  const Strategy& strategy_;
  const Task& task_;
  std::int64_t tried_ = 0;
  Price base_;
  Calibration moved_;
  std::vector<Sensitivity> found_;
};

}  // namespace

std::vector<Sensitivity> assumed_numbers_that_matter(const Question& question, const Strategy& strategy,
                                                     const Task& task) {
  return Collector(question, strategy, task).collect();
}

}  // namespace plumbline
