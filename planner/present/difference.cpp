// Two plans side by side.
#include "core/io/strategy_json.h"
#include "core/quantity/text.h"
#include "planner/present/numbers.h"
#include "planner/present/plan_tables.h"
#include "planner/present/sample_words.h"

namespace plumbline::present {
namespace {

std::string text_of(const Json& value) {
  std::string text = value.if_string() != nullptr ? *value.if_string() : to_json_text(value, -1);
  if (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

class Differences {
 public:
  void add_choice(const std::string& name, const std::string& one, const std::string& other) {
    if (one != other) table_.rows.push_back({words(name), words(one), words(other), words("")});
  }
  /// Left out where both are zero.
  void add_figure(const std::string& name, double one, double other, int digits) {
    if (one == 0 && other == 0) return;
    table_.rows.push_back({words(name), decimal(one, digits), decimal(other, digits),
                           other == 0 ? words("") : difference_cell(one, other)});
  }
  void add_strategies(const Plan& a, const Plan& b) {
    const Json one = to_json(a.strategy, a.training);
    const Json other = to_json(b.strategy, b.training);
    for (const auto& [key, value] : *one.if_object())
      add_choice(words_of(key), text_of(value), text_of(*other.find(key)));
  }
  Table take() { return std::move(table_); }

 private:
  Table table_{{{"what", "choice or figure", Unit::text, "what the plans choose and what is predicted", Align::left},
                {"one", "this plan", Unit::text, "of the plan that is explained", Align::right},
                {"other", "the other", Unit::text, "of the plan that it is held against", Align::right},
                {"difference", "difference", Unit::per_cent, "this plan's figure over the other's"}},
               {}};
};

const MemoryBreakdown& heaviest(const Plan& plan) {
  return plan.prediction.stage_memory[static_cast<std::size_t>(plan.prediction.heaviest_stage)];
}

double gib(Bytes amount) { return static_cast<double>(amount.value()) / bytes_per_gib; }

/// Those of both plans; networks that are not counted alike share none.
void add_rates(Differences& all, const Plan& a, const Plan& b) {
  for (const Rate& one : rates(a))
    for (const Rate& other : rates(b))
      if (one.unit == other.unit)
        all.add_figure(std::string(one.unit), one.per_second_and_gpu, other.per_second_and_gpu, 1);
}

}  // namespace

Table difference_table(const Plan& a, const Plan& b) {
  Differences all;
  all.add_choice("model", a.model.name, b.model.name);
  all.add_choice("machine", a.machine.name, b.machine.name);
  all.add_choice("GPUs", std::to_string(a.machine.devices), std::to_string(b.machine.devices));
  all.add_strategies(a, b);
  const Prediction& p = a.prediction;
  const Prediction& q = b.prediction;
  all.add_figure("step s", p.step_time_s.expected, q.step_time_s.expected, 3);
  for (std::size_t i = 0; i < time_cause_count; ++i)
    all.add_figure("  " + words_of(to_text(static_cast<TimeCause>(i))), to_seconds(p.time.by_cause[i]).value(),
                   to_seconds(q.time.by_cause[i]).value(), 3);
  add_rates(all, a, b);
  all.add_figure("MFU %", 100 * p.mfu, 100 * q.mfu, 1);
  all.add_figure("peak GiB", gib(p.peak_memory), gib(q.peak_memory), 2);
  for (std::size_t i = 0; i < memory_class_count; ++i)
    all.add_figure("  " + words_of(to_text(static_cast<MemoryClass>(i))), gib(heaviest(a).by_class[i]),
                   gib(heaviest(b).by_class[i]), 2);
  all.add_choice("fits", a.verdict.fits ? "yes" : "no", b.verdict.fits ? "yes" : "no");
  return all.take();
}

}  // namespace plumbline::present
