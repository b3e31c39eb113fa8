// plan stacks: the software stacks that this program knows: their axis values, and what they rest on.
#include "cli/catalogue/catalogue_verb.h"
#include "cli/output/plan_view.h"
#include "cli/output/table.h"
#include "core/base/joined.h"
#include "core/io/stack_json.h"
#include "models/calibration_set.h"
#include "models/io/catalogue_json.h"
#include "planner/present/catalogue_tables.h"

namespace plumbline {
namespace {

std::string range_text(const MeasuredRange& range) {
  return range.least == range.most ? std::to_string(range.least)
                                   : std::to_string(range.least) + " to " + std::to_string(range.most);
}

std::string residual_text(const std::string& name, const Residual& residual) {
  return name + " " + per_cent_text(residual.sigma) + " (" + std::to_string(residual.runs) + " measured runs; " +
         residual.sigma.kind + ": " + residual.sigma.source + ")";
}

std::string residuals_text(const Residuals& residuals) {
  std::string text =
      "standard deviation of what is predicted, regime " + std::string(to_text(residuals.regime)) + ":\n";
  text += "  " + wrapped(residual_text("step time", residuals.time), terminal_columns(), 4, 2) + "\n";
  for (const NetworkResidual& one : residuals.time_by_network)
    text += "  " + wrapped(residual_text("step time, " + one.network, one.time), terminal_columns(), 4, 2) + "\n";
  text += "  " + wrapped(residual_text("peak memory", residuals.memory), terminal_columns(), 4, 2) + "\n";
  std::string runs = joined(residuals.measured.networks);
  for (std::size_t i = 0; i < run_scale_count; ++i)
    if (const auto& range = residuals.measured.scales[i])
      runs += (runs.empty() ? "" : "; ") + words_of(to_text(static_cast<RunScale>(i))) + " " + range_text(*range);
  return text + "  " + wrapped("measured: " + (runs.empty() ? "nothing" : runs), terminal_columns(), 4, 2) + "\n";
}

std::string details_text(const CalibrationSet& set, const SoftwareStack& stack, const Residuals& residuals) {
  const std::string origin = stack.framework + (stack.releases ? ", releases " + present::releases_text(stack) : "") +
                             (stack.aliases.empty() ? "" : "; also called " + joined(stack.aliases));
  std::string text = wrapped(stack.name + ": " + stack.description, terminal_columns(), 2) + "\n" +
                     wrapped(origin, terminal_columns(), 2) + "\n\n";
  return text + plumbline::text(present::stack_axis_table(set, stack)) + "\n" + residuals_text(residuals) + "\n" +
         plumbline::text(present::feature_table(set, stack)) + "\n" +
         plumbline::text(present::coefficient_table(set, stack));
}

class StacksVerb : public CatalogueVerb {
 public:
  StacksVerb() : CatalogueVerb("STACK") {}
  [[nodiscard]] VerbWords words() const override {
    return {"stacks", "the software stacks of the catalogue, or one of them in detail", "[NAME|FILE]",
            "Without a name lists every stack with what its calibration rests on. With a name or a stack file: its "
            "traits, its measured runs, its features, and every number with its kind, source and what decides it. "
            "--json of one "
            "stack is a stack file to start one's own from.",
            "plan stacks torchtitan-2024.12"};
  }

 private:
  [[nodiscard]] std::string one(const std::string& name) const override {
    const CalibrationSet& set = CalibrationSet::shipped();
    const SoftwareStack stack = set.software_stack(name);
    if (json()) return to_json_text(software_stack_json(stack));
    return details_text(set, stack, set.stack(name).residuals);
  }
  [[nodiscard]] std::string warning(const std::string& name) const override {
    return CalibrationSet::shipped().stack_name_warning(name);
  }
  [[nodiscard]] std::vector<std::string> names() const override { return CalibrationSet::shipped().stack_names(); }
  [[nodiscard]] std::string all() const override {
    return json() ? to_json_text(stack_catalogue_json()) : text(present::stack_table());
  }
};

const RegisteredVerb stacks_verb(120, make_verb<StacksVerb>);

}  // namespace

}  // namespace plumbline
