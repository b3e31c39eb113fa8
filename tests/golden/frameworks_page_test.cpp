// docs/frameworks.md is written from the records; scripts/regenerate_golden.sh writes it anew.

#include "planner/frameworks/framework.h"
#include "tests/catch.h"
#include "tests/golden/golden_file.h"

namespace plumbline {
namespace {

std::string name_of(Schedule schedule) { return std::string(to_text(schedule)); }
std::string name_of(std::int32_t zero) { return "ZeRO-" + std::to_string(zero); }
std::string name_of(Feature feature) { return std::string(to_text(feature)); }
std::string name_of(PrecisionRecipe recipe) { return std::string(to_text(recipe)); }
std::string name_of(Optimizer optimizer) { return std::string(to_text(optimizer)); }

template <class Value>
std::string rows(const std::string& kind, const std::vector<Launchable<Value>>& list) {
  std::string text;
  for (const Launchable<Value>& one : list)
    text += "| " + kind + " | " + std::string(name_of(one.value)) + " | " + std::string(one.spelling) + " | " +
            std::string(one.source) + " |\n";
  return text;
}

std::string section(Framework framework) {
  const FrameworkRecord& r = record_of(framework);
  std::string text = "\n## " + std::string(r.title) + " (`--for " + std::string(to_text(framework)) + "`)\n\n";
  if (!r.revision.empty()) text += "As of " + std::string(r.revision) + ".\n\n";
  text += "| | can launch | spelled | source |\n|---|---|---|---|\n" + rows("schedule", r.schedules) +
          rows("recompute", r.recompute) + rows("sharding", r.zero_stages) + rows("parallelism", r.features) +
          rows("precision", r.precisions) + rows("optimizer", r.optimizers);
  if (r.optimizers.empty()) text += "| optimizer | any | the training script makes it | |\n";
  text += "| adapters | " + (r.adapters.empty() ? "none | | " : "LoRA | " + std::string(r.adapters) + " | ") +
          std::string(r.adapters_source) + " |\n";
  text += "\n";
  for (const FrameworkRule& rule : r.rules)
    text += "- It " + std::string(rule.sentence) + " (" + std::string(rule.source) + ").\n";
  text += "- Gradients, where nothing is said, beside 16-bit weights: " + std::string(to_text(r.defaults.gradient)) +
          " (" + std::string(r.defaults.gradient_source) +
          "); put together for a reduction: " + std::string(r.defaults.buckets) + " (" +
          std::string(r.defaults.bucket_source) + ").\n";
  text += "- Priced, where no stack is named, with " +
          (r.current_stack == "unknown" ? "the stack `unknown`: no run of it was measured"
                                        : "the stack `" + std::string(r.current_stack) + "`") +
          ".\n";
  return text;
}

TEST_CASE("the page of frameworks says what their records say") {
  std::string page =
      "# Frameworks\n\n"
      "Written from `planner/frameworks` by `scripts/regenerate_golden.sh`; do not edit. `plan search --for NAME` "
      "keeps "
      "to what a framework can launch, and says what that costs against the best plan of any. All of them number ranks "
      "as "
      "plans do: tensor innermost, then context, data, pipeline. Not looked at: which networks a framework has, and "
      "flags "
      "that change no price.\n";
  for (const Framework framework : all_frameworks)
    if (framework != Framework::any) page += section(framework);
  CHECK(page == golden_text("../../docs/frameworks.md", page));
}

}  // namespace
}  // namespace plumbline
