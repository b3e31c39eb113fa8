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

/// Megatron-Core's cuda_graph_impl and cuda_graph_modules: whole layers by Transformer Engine's make_graphed_callables,
/// the modules of a mixture's layer that need no counts of tokens, or the passes of an iteration.
constexpr std::array graph_words{
    ChoiceWord{"none", "eager_te", "eager"}, ChoiceWord{"partial", "partial_graphs", "partial_graphs"},
    ChoiceWord{"layers", "layer_graphs", "layer_graphs"}, ChoiceWord{"iteration", "cuda_graphs", "cuda_graphs"}};
constexpr std::array<std::string_view, 5> foreign_graphs{
    "--cuda-graph-impl", "--cuda-graph-scope", "--cuda-graph-modules", "--enable-cuda-graph", "--external-cuda-graph"};
constexpr std::array<std::string_view, 4> foreign_overlaps{
    "--ub-tp-comm-overlap", "--async-tp", "--enable-async-tensor-parallel", "--tp-linear-async-communication"};
constexpr std::array overlap_words{ChoiceWord{"on", "userbuffers", "async"}, ChoiceWord{"off", "none", "none"}};

constexpr std::array<StackChoiceField, stack_choice_count> fields{
    StackChoiceField{"loss", "loss", &StackChoices::loss,
                     "how the cross-entropy treats logits, instead of the stack's way (docs/calibrations.md)"},
    StackChoiceField{"overlap", "overlap", &StackChoices::overlap,
                     "which reductions of gradients and gathers of updated parameters run beside passes, instead of "
                     "the stack's way"},
    StackChoiceField{"cuda_graphs", "launch", &StackChoices::cuda_graphs,
                     "what replays as CUDA graphs, instead of the stack's way: whole iterations, layers, or of a "
                     "mixture's layers what precedes the dispatch (partial)",
                     graph_words, foreign_graphs},
    StackChoiceField{"tp_comm_overlap", "tensor_parallel_overlap", &StackChoices::tp_comm_overlap,
                     "whether products hide what tensor-parallel ranks send, instead of the stack's way", overlap_words,
                     foreign_overlaps}};

std::vector<std::string> word_list(std::span<const ChoiceWord> named) {
  std::vector<std::string> words;
  for (const ChoiceWord& one : named) words.emplace_back(one.word);
  return words;
}

std::string value_of(std::string_view stack, std::string_view name) {
  const CalibrationSet& set = CalibrationSet::shipped();
  if (set.axis_table().find(name) != nullptr) return set.axis_value(stack, name);
  const std::span<const FeatureField> features = stack_feature_fields();
  const auto index = static_cast<std::size_t>(find_feature(name) - features.data());
  const std::string said = decided_features(set, set.software_stack(stack))[index].feature.choice;
  return said.empty() ? std::string(features[index].choices.front().word) : said;
}

std::string word_for(const StackChoiceField& field, const std::string& value) {
  if (field.named.empty()) return value;
  for (const ChoiceWord& one : field.named)
    if (value == one.of_engine || value == one.of_others) return std::string(one.word);
  return std::string(field.named.front().word);
}

std::string word_of(std::string_view stack, const StackChoiceField& field) {
  return word_for(field, value_of(stack, field.decides));
}

/// What `stack`, which does something else, does with `word`.
std::string value_with(std::string_view stack, const StackChoiceField& field, const std::string& word) {
  if (field.named.empty()) return word;
  const CalibrationSet& set = CalibrationSet::shipped();
  const SoftwareStack own = set.software_stack(stack);
  const std::vector<const SoftwareStack*> line = lineage(set, own);
  for (auto of = line.rbegin(); of != line.rend(); ++of)
    for (const AxisChoice& choice : (*of)->axis_choices)
      if (choice.axis == field.decides && word_for(field, choice.value) == word) return choice.value;
  const bool has_engine = set.axis_value(stack, "fusion") == "fused";
  const auto named =
      std::find_if(field.named.begin(), field.named.end(), [&](const ChoiceWord& one) { return one.word == word; });
  return std::string(has_engine ? named->of_engine : named->of_others);
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

std::string StackChoiceField::flag() const {
  std::string flag = "--" + std::string(name);
  std::replace(flag.begin(), flag.end(), '_', '-');
  return flag;
}

std::vector<std::string> StackChoiceField::words() const {
  if (!named.empty()) return word_list(named);
  const StackAxis* axis = CalibrationSet::shipped().axis_table().find(decides);
  return axis != nullptr ? axis->value_names() : find_feature(decides)->words();
}

std::string stack_choice(const StackChoiceField& field, std::string_view text, std::string_view where) {
  const std::vector<std::string> words = field.words();
  if (std::find(words.begin(), words.end(), text) != words.end()) return std::string(text);
  throw InputError({std::string(where), "found '" + std::string(text.substr(0, 60)) + "'", "one of " + joined(words),
                    nearest_text(text, words)});
}

StackChoices choices_of_stack(std::string_view stack) {
  StackChoices choices;
  for (const StackChoiceField& field : fields) choices.*field.word = word_of(stack, field);
  return choices;
}

std::string stack_with(std::string_view stack, const StackChoices& choices) {
  std::string name(stack);
  for (const StackChoiceField& field : fields) {
    const std::string& word = choices.*field.word;
    if (word.empty()) continue;
    name = without(std::move(name), field.decides);
    if (word_of(name, field) != word) name += "+" + std::string(field.decides) + "=" + value_with(name, field, word);
  }
  return name;
}

StackChoices merged(StackChoices choices, const StackChoices& more) {
  for (const StackChoiceField& field : fields)
    if ((choices.*field.word).empty()) choices.*field.word = more.*field.word;
  return choices;
}

}  // namespace plumbline
