#pragma once
/// \file stack_choices.h: what a question may choose of its software stack besides naming it: one row a choice, from
/// which flags, Python's arguments, keys of rows and launch files follow.
///
/// A choice is another value of a trait (models/calibrations/traits.json) or of a feature (stack_feature_table.h); the
/// stack with it is named so ("pytorch+loss=chunked"), and one asked for what it does anyway stays itself. Where a
/// setting has fewer words than its trait has values, a word takes the value of the stack that this one is like, else
/// that of its kernels' library: "--cuda-graphs none" of a stack with graphs launches as the one without them.
/// Checked against: tests/unit/planner/question/question_test.cpp.

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace plumbline {

/// A word of each choice; empty: as the stack does.
struct StackChoices {
  std::string loss;             ///< how the cross-entropy treats logits: the trait "loss"
  std::string overlap;          ///< which collectives that share states run beside passes: the feature "overlap"
  std::string cuda_graphs;      ///< what replays as CUDA graphs: the trait "launch"
  std::string tp_comm_overlap;  ///< whether anything hides tensor-parallel collectives: "tensor_parallel_overlap"

  [[nodiscard]] bool empty() const { return *this == StackChoices{}; }
  bool operator==(const StackChoices&) const = default;
};

/// A word that stands for values of a trait.
struct ChoiceWord {
  std::string_view word;
  std::string_view of_engine;  ///< the value of stacks on Transformer Engine
  std::string_view of_others;
};

struct StackChoiceField {
  std::string_view name;     ///< of a row's key, and, with '-' for '_', of the flag behind "--"
  std::string_view decides;  ///< the trait or feature
  std::string StackChoices::*word;
  const char* help;
  /// Empty: the words are the values. A value that no word names has the first one.
  std::span<const ChoiceWord> named = {};
  std::span<const std::string_view> foreign = {};  ///< flags of other programs that mean it

  [[nodiscard]] std::string flag() const;
  [[nodiscard]] std::vector<std::string> words() const;
};

inline constexpr std::size_t stack_choice_count = 4;
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
