// docs/stacks.md is written from the table of features and the shipped stacks; scripts/regenerate_golden.sh writes it
// anew.

#include <map>

#include "models/calibration_set.h"
#include "models/stack_composition.h"
#include "tests/catch.h"
#include "tests/golden/golden_file.h"

namespace plumbline {
namespace {

/// What the shipped stacks make of one feature.
struct FeatureUse {
  std::map<std::string, std::vector<std::string>> stacks;          ///< by choice
  std::map<std::string, std::map<std::string, std::string>> said;  ///< source by choice, by place
};

FeatureUse use_of(const CalibrationSet& set, std::size_t feature) {
  FeatureUse use;
  for (const std::string& name : set.stack_names()) {
    const DecidedFeature decided = decided_features(set, set.software_stack(name))[feature];
    use.stacks[decided.feature.choice].push_back("`" + name + "`");
    use.said[decided.place][decided.feature.choice] = decided.feature.source;
  }
  return use;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

std::string section(const FeatureField& field, const FeatureUse& use) {
  std::string text = "\n## `" + std::string(field.key) + "`: " + std::string(field.meaning) + "\n\n";
  text += "| choice | means | stacks |\n|---|---|---|\n";
  std::size_t most = 0;
  for (const auto& [choice, stacks] : use.stacks) most = std::max(most, stacks.size());
  for (const FeatureChoice& choice : field.choices) {
    const auto found = use.stacks.find(std::string(choice.word));
    const std::string stacks = found == use.stacks.end()      ? "none"
                               : found->second.size() == most ? "all others"
                                                              : joined(found->second);
    text += "| `" + std::string(choice.word) + "` | " + std::string(choice.meaning) + " | " + stacks + " |\n";
  }
  text += "\n";
  for (const auto& [place, choices] : use.said)
    for (const auto& [choice, source] : choices) text += "- `" + place + "`: `" + choice + "` (" + source + ")\n";
  text += "- In older files: the coefficient `" + std::string(field.old_key) + "`, 0 to " +
          std::to_string(field.choices.size() - 1) + " in the order above.\n";
  return text;
}

TEST_CASE("the page of stacks says what the table of features and the shipped stacks say") {
  const CalibrationSet& set = CalibrationSet::shipped();
  std::string page =
      "# Features of software stacks\n\n"
      "Written from `core/cost/stack_feature_table.cpp` and `models/calibrations` by\n"
      "`scripts/regenerate_golden.sh`; do not edit.\n\n"
      "A feature is a choice between ways, without uncertainty: no fit moves it. `plan stacks NAME` shows those of "
      "one\n"
      "stack; the numbers of stacks are in [calibrations](calibrations.md). A file spells a feature as\n"
      "`\"features\": {\"norms\": {\"choice\": \"primitive\", \"source\": \"our fork's norms.py\"}}`.\n\n"
      "The list below each table says what decides it: the base, a value of an axis, or a stack itself.\n";
  const std::span<const FeatureField> fields = stack_feature_fields();
  for (std::size_t i = 0; i < fields.size(); ++i) page += section(fields[i], use_of(set, i));
  CHECK(page == golden_text("../../docs/stacks.md", page));
}

}  // namespace
}  // namespace plumbline
