#include "gui/question/question_form.h"

#include <algorithm>
#include <array>

#include "core/base/errors.h"
#include "core/io/value_text.h"
#include "gui/machine/edited_machine_file.h"
#include "gui/question/axis_text.h"
#include "planner/search/space.h"
#include "planner/session/question_flags.h"
#include "planner/session/search/search_flags.h"
#include "planner/session/size/size.h"

namespace plumbline::gui {
namespace {

using G = FieldGroup;

/// Where the window has the field of an option, whose row says the rest (OptionField).
struct NamedField {
  FieldGroup group;
  std::string_view flag;
};

/// In the order of Field.
constexpr std::array<NamedField, named_fields> places_of_fields{{{G::question, "--model"},
                                                                 {G::question, "--machine"},
                                                                 {G::question, "--gpus"},
                                                                 {G::question, "--seq-len"},
                                                                 {G::question, "--global-batch"},
                                                                 {G::question, "--tokens"},
                                                                 {G::question, "--objective"},
                                                                 {G::recipe, "--precision"},
                                                                 {G::recipe, "--optimizer"},
                                                                 {G::recipe, "--lora-rank"},
                                                                 {G::recipe, "--stack"},
                                                                 {G::recipe, "--for"},
                                                                 {G::limits, "--headroom"},
                                                                 {G::limits, "--price"},
                                                                 {G::limits, "--days"},
                                                                 {G::limits, "--budget"}}};

/// Of every option that has a field.
std::vector<const OptionWords*> options_with_field() {
  std::vector<const OptionWords*> words;
  const auto add = [&](const auto& options) {
    for (const auto& option : options)
      if (!option.words.field.caption.empty()) words.push_back(&option.words);
  };
  add(session::question_options(session::Recipes::several, session::DeviceCounts::one));
  add(session::ranking_options());
  add(session::search_options());
  add(session::size_options());
  return words;
}

/// "--global-batch": "global_batch".
std::string id_of(std::string_view flag) {
  std::string id(flag.substr(2));
  std::replace(id.begin(), id.end(), '-', '_');
  return id;
}

/// The help, of a field that is empty where a flag is absent.
std::string explanation_of(const OptionWords& words) {
  if (!words.field.explanation.empty()) return words.field.explanation;
  constexpr std::string_view absent = "absent: ";
  std::string text = words.help;
  if (const std::size_t at = text.find(absent); at != std::string::npos) text.replace(at, absent.size(), "empty: ");
  return text;
}

FieldFacts field_of_option(const OptionWords& words) {
  const auto* const found = std::find_if(places_of_fields.begin(), places_of_fields.end(),
                                         [&](const NamedField& named) { return named.flag == words.flag; });
  check(found != places_of_fields.end(), "every option with a caption has a place in the window");
  return {static_cast<Field>(found - places_of_fields.begin()),
          found->group,
          words.field.id.empty() ? id_of(words.flag) : words.field.id,
          words.flag,
          words.field.where,
          words.field.caption,
          words.field.placeholder,
          explanation_of(words)};
}

/// In the order of Field.
std::vector<FieldFacts> fields_of_options() {
  std::vector<FieldFacts> fields;
  for (const OptionWords* words : options_with_field()) fields.push_back(field_of_option(*words));
  check(fields.size() == named_fields, "every named field has its option");
  std::sort(fields.begin(), fields.end(), [](const FieldFacts& a, const FieldFacts& b) { return a.field < b.field; });
  return fields;
}

std::vector<const StrategyAxis*> axes_with_field() {
  std::vector<const StrategyAxis*> axes = strategy_axes_by(&StrategyAxis::form_place);
  std::erase_if(axes, [](const StrategyAxis* axis) { return axis->caption.empty(); });
  return axes;
}

FieldFacts field_of_axis(const StrategyAxis& axis, std::size_t place) {
  // What is not said is free where a search has a rule for it, else it is as usual.
  const std::string placeholder = axis.in_search == InSearch::by_rule ? "free" : axis.text({});
  return {static_cast<Field>(named_fields + place),
          G::constraints,
          id_of(axis.flag),
          axis.flag,
          "",
          axis.caption,
          placeholder,
          axis.meaning + axis.examples,
          &axis};
}

/// Constraints ahead of limits, as the window shows them.
std::vector<FieldFacts> make_fields() {
  std::vector<FieldFacts> fields = fields_of_options();
  const std::vector<const StrategyAxis*> axes = axes_with_field();
  std::vector<FieldFacts> constraints;
  for (std::size_t i = 0; i < axes.size(); ++i) constraints.push_back(field_of_axis(*axes[i], i));
  const auto limits =
      std::find_if(fields.begin(), fields.end(), [](const FieldFacts& facts) { return facts.group == G::limits; });
  fields.insert(limits, constraints.begin(), constraints.end());
  return fields;
}

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::optional<std::string> given(const QuestionForm& form, Field field) {
  std::string text = trimmed(form[field]);
  return text.empty() ? std::nullopt : std::optional(std::move(text));
}

session::QuestionFlags flags_of(const QuestionForm& form) {
  session::QuestionFlags flags;
  for (const Option<session::QuestionFlags>& option :
       session::question_options(session::Recipes::several, session::DeviceCounts::one))
    for (const FieldFacts& facts : all_fields())
      if (facts.flag == option.words.flag) option.text(flags) = given(form, facts.field);
  flags.recipes = session::Recipes::several;
  return flags;
}

/// Each axis is read by itself first, so that what is wrong is known by its field.
std::string fixes_of(const QuestionForm& form) {
  std::string fixes;
  for (const FieldFacts& facts : all_fields()) {
    if (facts.axis == nullptr) continue;
    const auto text = given(form, facts.field);
    if (!text) continue;
    const std::string_view axis = facts.axis->word();
    const std::string fix = std::string(axis) + "=" + axis_values(axis, *text);
    (void)space_from_text(fix);
    fixes += (fixes.empty() ? "" : ",") + fix;
  }
  return fixes;
}

std::optional<Framework> framework_in(const QuestionForm& form) {
  const auto text = given(form, Field::framework);
  if (!text) return std::nullopt;
  return choice_of("--for", *text, all_frameworks, framework_from_text);
}

Objective objective_in(const QuestionForm& form) {
  const auto text = given(form, Field::objective);
  return text ? choice_of("--objective", *text, all_objectives, objective_from_text) : Objective::step_time;
}

bool names(const FieldFacts& facts, std::string_view where) {
  if (where == facts.flag || (!facts.where.empty() && where == facts.where)) return true;
  return facts.axis != nullptr && where == "--fix " + std::string(facts.axis->word());
}

QuestionForm alone(const QuestionForm& form, Field field) {
  QuestionForm one;
  one[field] = form[field];
  return one;
}

}  // namespace

std::string_view title_of(FieldGroup group) {
  switch (group) {
    case G::question: return "Question";
    case G::recipe: return "Recipe";
    case G::constraints: return "Constraints";
    case G::limits: return "Memory, time and money";
  }
  return "";
}

const std::vector<FieldFacts>& all_fields() {
  static const std::vector<FieldFacts> fields = make_fields();
  return fields;
}

const FieldFacts& facts_of(Field field) {
  const auto found = std::find_if(all_fields().begin(), all_fields().end(),
                                  [&](const FieldFacts& facts) { return facts.field == field; });
  check(found != all_fields().end(), "every field has its facts");
  return *found;
}

Field field_of(std::string_view flag) {
  const auto found = std::find_if(all_fields().begin(), all_fields().end(),
                                  [&](const FieldFacts& facts) { return facts.axis != nullptr && facts.flag == flag; });
  check(found != all_fields().end(), "the axis has a field");
  return found->field;
}

Refusal refusal_of(const InputError& error, const QuestionForm& form) {
  const std::string& where = error.problem().where;
  for (const Field file : {Field::model, Field::machine, Field::stack})
    if (!form[file].empty() && where.starts_with(form[file])) return {file, error.what()};
  const auto found = std::find_if(all_fields().begin(), all_fields().end(),
                                  [&](const FieldFacts& facts) { return names(facts, where); });
  if (found == all_fields().end()) return {std::nullopt, error.what()};
  return {found->field, error.what()};
}

std::vector<Refusal> refusals(const QuestionForm& form) {
  std::vector<Refusal> all;
  for (const FieldFacts& facts : all_fields()) {
    if (form[facts.field].empty()) continue;
    const QuestionForm one = alone(form, facts.field);
    try {
      session::QuestionFlags flags = flags_of(one);
      flags.machine = flags.machine.value_or("-");  // asked for in every question
      flags.precision =
          flags.precision.value_or(std::string(to_text(PrecisionRecipe::fp32)));  // the default asks the machine
      (void)flags.question(session::QuestionParts::some);
      (void)framework_in(one);
      (void)objective_in(one);
      (void)fixes_of(one);
      (void)session::run_limits(given(one, Field::deadline), given(one, Field::budget));
    } catch (const InputError& error) {
      all.push_back({facts.field, error.what()});
    }
  }
  return all;
}

session::RunLimits run_limits(const QuestionForm& form) {
  const session::RunLimits limits = session::run_limits(given(form, Field::deadline), given(form, Field::budget));
  if (limits.any() && !given(form, Field::tokens))
    throw InputError(
        {"--tokens", "is missing", "tokens of the whole run, such as 15T, which has a deadline or a budget", ""});
  return limits;
}

session::SearchRequest search_request(const QuestionForm& form) {
  session::QuestionFlags flags = flags_of(form);
  (void)run_limits(form);
  if (!form.machine_edits.empty() && flags.machine)
    flags.machine = edited_machine_file(*flags.machine, form.machine_edits);
  session::SearchRequest request;
  request.question = flags.question();
  request.recipes = flags.recipe_choices();
  request.framework = framework_in(form);
  request.objective = objective_in(form);
  request.fixes = fixes_of(form);
  request.top = shown_plans;
  request.pareto = true;
  request.limits_cost = false;
  return request;
}

QuestionForm form_of(const Plan& plan) {
  QuestionForm form;
  form[Field::model] = plan.model.source.empty() ? plan.model.name : plan.model.source;
  form[Field::machine] = plan.machine.source.empty() ? plan.machine.name : plan.machine.source;
  form[Field::gpus] = std::to_string(plan.machine.devices);
  form[Field::sequence] = std::to_string(plan.training.sequence_length);
  form[Field::batch] = std::to_string(plan.training.global_batch);
  if (plan.training.token_budget) form[Field::tokens] = std::to_string(*plan.training.token_budget);
  form[Field::precision] = to_text(plan.training.precision);
  form[Field::optimizer] = to_text(plan.training.optimizer);
  if (plan.training.adaptation.lora_rank > 0)
    form[Field::lora_rank] = std::to_string(plan.training.adaptation.lora_rank);
  if (!plan.provenance.stack_is_default) form[Field::stack] = plan.provenance.stack_calibration;
  return form;
}

}  // namespace plumbline::gui
