#pragma once
/// \file stack_choices.h: what a question may choose of its software stack besides naming it: one row a choice, from
/// which flags, Python's arguments, keys of rows and launch files follow.
///
/// A choice is another value of a trait (models/calibrations/traits.json) or of a feature (stack_feature_table.h); the
/// stack with it is named so ("pytorch+loss=chunked"), and one asked for what it does anyway stays itself.
/// Checked against: tests/unit/planner/question/question_test.cpp.

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace plumbline {

/// A word of each choice; empty: as the stack does.
struct StackChoices {
  std::string loss;     ///< how the cross-entropy treats logits: the trait "loss"
  std::string overlap;  ///< which collectives that share states run beside passes: the feature "overlap"

  [[nodiscard]] bool empty() const { return *this == StackChoices{}; }
  bool operator==(const StackChoices&) const = default;
};

struct StackChoiceField {
  std::string_view name;  ///< of the trait or feature, of a row's key, and of the flag behind "--"
  std::string StackChoices::*word;
  const char* help;

  [[nodiscard]] std::string flag() const { return "--" + std::string(name); }
  [[nodiscard]] std::vector<std::string> words() const;
};

inline constexpr std::size_t stack_choice_count = 2;
[[nodiscard]] std::span<const StackChoiceField, stack_choice_count> stack_choice_fields();

/// A word of `field` as it was said; throws InputError naming `where`, the words and the nearest.
[[nodiscard]] std::string stack_choice(const StackChoiceField& field, std::string_view text, std::string_view where);

/// What a stack does, choice by choice. Throws InputError for an unknown stack.
[[nodiscard]] StackChoices choices_of_stack(std::string_view stack);
/// `stack` with what was chosen.
[[nodiscard]] std::string stack_with(std::string_view stack, const StackChoices& choices);
/// `choices`, and what `more` says besides.
[[nodiscard]] StackChoices merged(StackChoices choices, const StackChoices& more);

}  // namespace plumbline
