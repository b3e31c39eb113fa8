// plan stacks: the software stacks that this program knows: their traits, and what they rest on.
#include <array>
#include <cstdio>

#include "cli/catalogue_verb.h"
#include "cli/plan_view.h"
#include "cli/table.h"
#include "core/io/stack_json.h"
#include "core/quantity/text.h"
#include "models/calibration_set.h"
#include "models/io/catalogue_json.h"

namespace plumbline {
namespace {

std::string releases_text(const SoftwareStack& stack) {
  if (!stack.releases) return "";
  const Releases& releases = *stack.releases;
  return releases.oldest == releases.newest ? releases.oldest : releases.oldest + " to " + releases.newest;
}

/// Four significant digits.
std::string short_number(double value) {
  std::array<char, 32> text{};
  const int length = std::snprintf(text.data(), text.size(), "%.4g", value);
  return {text.data(), static_cast<std::size_t>(length)};
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::string range_text(const MeasuredRange& range) {
  return range.least == range.most ? std::to_string(range.least)
                                   : std::to_string(range.least) + " to " + std::to_string(range.most);
}

std::string residual_text(const std::string& name, const Residual& residual) {
  return name + " " + per_cent_text(residual.sigma) + " (" + std::to_string(residual.rows) + " measured runs; " +
         residual.sigma.kind + ": " + residual.sigma.source + ")";
}

std::string residuals_text(const Residuals& residuals) {
  std::string text =
      "standard deviation of what is predicted, regime " + std::string(to_text(residuals.regime)) + ":\n";
  text += "  " + wrapped(residual_text("step time", residuals.time), terminal_columns, 4, 2) + "\n";
  text += "  " + wrapped(residual_text("peak memory", residuals.memory), terminal_columns, 4, 2) + "\n";
  std::string runs = joined(residuals.measured.networks);
  for (std::size_t i = 0; i < run_scale_count; ++i)
    if (const auto& range = residuals.measured.scales[i])
      runs += (runs.empty() ? "" : "; ") + words_of(to_text(static_cast<RunScale>(i))) + " " + range_text(*range);
  return text + "  " + wrapped("measured: " + (runs.empty() ? "nothing" : runs), terminal_columns, 4, 2) + "\n";
}

/// Where a path says that a number stands: "trait fusion/compiled", "own", "stack NAME", "base".
std::string decided_by(const std::string& path, const SoftwareStack& stack) {
  const std::string place = path.substr(0, path.rfind('/'));
  if (place == "stack/" + stack.name) return "own";
  if (place.starts_with("trait/")) return place.substr(std::string_view("trait/").size());
  if (place.starts_with("stack/")) return place.substr(std::string_view("stack/").size());
  return place;
}

std::string details_text(const CalibrationSet& set, const SoftwareStack& stack, const StackCalibration& composed,
                         const std::vector<DecidedCoefficient>& decided) {
  const std::string origin = stack.framework + (stack.releases ? ", releases " + releases_text(stack) : "") +
                             (stack.aliases.empty() ? "" : "; also called " + joined(stack.aliases));
  std::string text = wrapped(stack.name + ": " + stack.description, terminal_columns, 2) + "\n" +
                     wrapped(origin, terminal_columns, 2) + "\n\n";
  Table traits({{"trait", Align::left}, {"value", Align::left}, {"which means", Align::left}});
  for (const ChosenTrait& trait : set.traits_of(stack)) {
    const TraitValue* value = trait.value.empty() ? nullptr : set.traits().find(trait.axis)->find(trait.value);
    traits.add_row({trait.axis, trait.value, value == nullptr ? "numbers of its own" : value->description});
  }
  Table numbers({{"number", Align::left},
                 {"value"},
                 {"+-"},
                 {"kind", Align::left},
                 {"decided by", Align::left},
                 {"source", Align::left}});
  for (const DecidedCoefficient& one : decided)
    numbers.add_row({one.path.substr(one.path.rfind('/') + 1), short_number(one.coefficient.value),
                     per_cent_text(one.coefficient.relative_sigma, 0), one.coefficient.kind,
                     decided_by(one.path, stack), one.coefficient.source});
  return text + traits.text(terminal_columns) + "\n" + residuals_text(composed.residuals) + "\n" +
         numbers.text(terminal_columns);
}

class StacksVerb : public CatalogueVerb {
 public:
  StacksVerb() : CatalogueVerb("STACK") {}
  [[nodiscard]] VerbWords words() const override {
    return {"stacks", "the software stacks of the catalogue, or one of them in detail", "[NAME|FILE]",
            "Without a name lists every stack with what its calibration rests on. With a name or a stack file: its "
            "traits, its measured runs, and every number with its kind, source and what decides it. --json of one "
            "stack is a stack file to start one's own from.",
            "plan stacks torchtitan-2024.12"};
  }

 private:
  [[nodiscard]] std::string one(const std::string& name) const override {
    const CalibrationSet& set = CalibrationSet::shipped();
    const SoftwareStack stack = set.software_stack(name);
    if (json()) return to_json_text(software_stack_json(stack));
    return details_text(set, stack, set.stack(name), set.decided(stack));
  }
  [[nodiscard]] std::string remark(const std::string& name) const override {
    return CalibrationSet::shipped().stack_name_remark(name);
  }
  [[nodiscard]] std::vector<std::string> names() const override { return CalibrationSet::shipped().stack_names(); }
  [[nodiscard]] std::string all() const override {
    if (json()) return to_json_text(stack_catalogue_json());
    const CalibrationSet& set = CalibrationSet::shipped();
    Table table({{"name", Align::left},
                 {"framework", Align::left},
                 {"releases", Align::left},
                 {"runs"},
                 {"sigma"},
                 {"regime", Align::left}});
    for (const std::string& name : set.stack_names()) {
      const SoftwareStack stack = set.software_stack(name);
      const Residuals residuals = set.stack(name).residuals;
      table.add_row({name, stack.framework, releases_text(stack), std::to_string(residuals.time.rows),
                     per_cent_text(residuals.time.sigma), std::string(to_text(residuals.regime))});
    }
    return table.text(terminal_columns);
  }
};

}  // namespace

std::unique_ptr<Verb> make_stacks_verb() { return std::make_unique<StacksVerb>(); }

}  // namespace plumbline
