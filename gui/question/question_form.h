#pragma once
/// \file question_form.h: the question as it is typed: a text for each field; empty where it is left open.
///
/// What a text means, and the words in which it is refused, are those of the command line's flags
/// (planner/session/question_flags.h).
/// Checked against: tests/gui/question/question_form_test.cpp.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/plan/strategy_axes.h"
#include "gui/machine/machine_numbers.h"
#include "planner/session/run_limits.h"
#include "planner/session/search/search.h"

namespace plumbline::gui {

/// What the program names; behind them stand the axes of the strategy that have a field (field_of).
enum class Field : std::uint8_t {
  model,
  machine,
  gpus,
  sequence,
  batch,
  tokens,
  objective,
  precision,
  optimizer,
  lora_rank,
  stack,
  framework,
  headroom,
  price,
  deadline,
  budget,
};
inline constexpr std::size_t named_fields = 16;
/// The field of an axis, by its flag: "--tp". Its row must have a caption (core/plan/strategy_axes.h).
[[nodiscard]] Field field_of(std::string_view flag);

enum class FieldGroup : std::uint8_t { question, recipe, constraints, limits };
/// "Question", "Recipe", "Constraints", "Memory, time and money".
[[nodiscard]] std::string_view title_of(FieldGroup group);

struct FieldFacts {
  Field field;
  FieldGroup group;
  std::string id;            ///< in session files: "model"
  std::string_view flag;     ///< "--model"
  std::string_view where;    ///< how checks of the question name it: "sequence length"; or empty
  std::string_view caption;  ///< "Model"
  std::string placeholder;   ///< what an empty field means
  std::string explanation;
  const StrategyAxis* axis = nullptr;  ///< of a constraint
};
/// In the order of the window.
[[nodiscard]] const std::vector<FieldFacts>& all_fields();
[[nodiscard]] const FieldFacts& facts_of(Field field);

struct QuestionForm {
  std::vector<std::string> texts = std::vector<std::string>(all_fields().size());  ///< by the field's number
  std::vector<MachineEdit> machine_edits = {};  ///< numbers of the cluster in place of its own

  [[nodiscard]] const std::string& operator[](Field field) const { return texts[static_cast<std::size_t>(field)]; }
  [[nodiscard]] std::string& operator[](Field field) { return texts[static_cast<std::size_t>(field)]; }
  friend bool operator==(const QuestionForm&, const QuestionForm&) = default;
};

/// What is wrong, and where it stands; no field: nowhere in particular.
struct Refusal {
  std::optional<Field> field;
  std::string words;
};
[[nodiscard]] Refusal refusal_of(const InputError& error, const QuestionForm& form);

/// Every field whose text is wrong by itself. Names of models and machines are looked up by `search_request` alone.
[[nodiscard]] std::vector<Refusal> refusals(const QuestionForm& form);
/// How many plans the window asks for.
inline constexpr std::size_t shown_plans = 200;
/// Throws InputError for the first field that is wrong or missing.
[[nodiscard]] session::SearchRequest search_request(const QuestionForm& form);
/// What the run may take. Throws InputError for a wrong text, and for a limit of a run whose length nobody knows.
[[nodiscard]] session::RunLimits run_limits(const QuestionForm& form);
/// The question that a plan answers.
[[nodiscard]] QuestionForm form_of(const Plan& plan);

}  // namespace plumbline::gui
