#include "planner/stacks/stack_choices.h"

#include <algorithm>
#include <array>

#include "core/base/errors.h"
#include "core/base/found_by_name.h"
#include "core/base/joined.h"
#include "core/cost/stack_feature_table.h"
#include "models/calibration_set.h"
#include "models/stack_composition.h"

namespace plumbline {
namespace {

constexpr std::array<StackChoiceField, stack_choice_count> fields{
    StackChoiceField{"loss", &StackChoices::loss,
                     "how the cross-entropy treats logits, instead of the stack's way (docs/calibrations.md)"},
    StackChoiceField{"overlap", &StackChoices::overlap,
                     "which reductions of gradients and gathers of updated parameters run beside passes, instead of "
                     "the stack's way"}};

std::string word_of(std::string_view stack, std::string_view name) {
  const CalibrationSet& set = CalibrationSet::shipped();
  if (set.axis_table().find(name) != nullptr) return set.axis_value(stack, name);
  const std::span<const FeatureField> features = stack_feature_fields();
  const auto index = static_cast<std::size_t>(find_feature(name) - features.data());
  const std::string said = decided_features(set, set.software_stack(stack))[index].feature.choice;
  return said.empty() ? std::string(features[index].choices.front().word) : said;
}

/// The name of a stack without what it says of one trait or feature.
std::string without(std::string name, std::string_view choice) {
  const std::string said = "+" + std::string(choice) + "=";
  for (std::size_t begin = name.find(said); begin != std::string::npos; begin = name.find(said))
    name.erase(begin, name.find('+', begin + 1) - begin);
  return name;
}

}  // namespace

std::span<const StackChoiceField, stack_choice_count> stack_choice_fields() { return fields; }

std::vector<std::string> StackChoiceField::words() const {
  const StackAxis* axis = CalibrationSet::shipped().axis_table().find(name);
  return axis != nullptr ? axis->value_names() : find_feature(name)->words();
}

std::string stack_choice(const StackChoiceField& field, std::string_view text, std::string_view where) {
  const std::vector<std::string> words = field.words();
  if (std::find(words.begin(), words.end(), text) != words.end()) return std::string(text);
  throw InputError({std::string(where), "found '" + std::string(text.substr(0, 60)) + "'", "one of " + joined(words),
                    nearest_text(text, words)});
}

StackChoices choices_of_stack(std::string_view stack) {
  StackChoices choices;
  for (const StackChoiceField& field : fields) choices.*field.word = word_of(stack, field.name);
  return choices;
}

std::string stack_with(std::string_view stack, const StackChoices& choices) {
  std::string name(stack);
  for (const StackChoiceField& field : fields) {
    const std::string& word = choices.*field.word;
    if (word.empty()) continue;
    name = without(std::move(name), field.name);
    if (word_of(name, field.name) != word) name += "+" + std::string(field.name) + "=" + word;
  }
  return name;
}

StackChoices merged(StackChoices choices, const StackChoices& more) {
  for (const StackChoiceField& field : fields)
    if ((choices.*field.word).empty()) choices.*field.word = more.*field.word;
  return choices;
}

}  // namespace plumbline
