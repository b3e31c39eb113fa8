#pragma once
/// \file stack_feature_table.h: the features of software stacks as one table: key, words, meaning. Readers, writers and
/// docs/stacks.md walk it.
///
/// Before features were words they were coefficients of value 0, 1 or 2: `old_key` is the key that they had, and
/// `choices` are in the order of those numbers.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/cost/stack_features.h"

namespace plumbline {

struct FeatureChoice {
  std::string_view word;
  std::string_view meaning;
};

struct FeatureField {
  std::string_view key;
  std::string_view old_key;
  std::string_view meaning;
  std::span<const FeatureChoice> choices;
  std::size_t (*index)(const StackFeatures&);         ///< of the choice that holds
  void (*choose)(StackFeatures&, std::size_t index);  ///< below the number of choices
  /// Whether it decides alone when collectives run: kernels, and how well they were predicted, stay what they are.
  bool moves_collectives = false;

  /// The choice with a word, or null.
  [[nodiscard]] const FeatureChoice* find(std::string_view word) const;
  [[nodiscard]] std::vector<std::string> words() const;
};

/// In the order of StackFeatures.
[[nodiscard]] std::span<const FeatureField> stack_feature_fields();
/// The field with a key, or null.
[[nodiscard]] const FeatureField* find_feature(std::string_view key);
/// The field that had a key as a number, or null.
[[nodiscard]] const FeatureField* feature_of_number(std::string_view old_key);

/// A feature as a file states it: a key and a word of the table, and where it is from.
struct NamedFeature {
  std::string name;
  std::string choice;
  std::string source;
};

/// Every feature that is listed; both words are of the table, as readers see to it.
void apply(const NamedFeature& feature, StackFeatures& features);

}  // namespace plumbline
