#include "gui/question/command_text.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "core/base/errors.h"
#include "gui/machine/edited_machine_file.h"
#include "gui/question/axis_text.h"
#include "planner/frameworks/syntax/quoting.h"
#include "planner/frameworks/syntax/shell_words.h"

namespace plumbline::gui {
namespace {

/// A flag and its text.
using GivenFlag = std::pair<std::string, std::string>;

constexpr std::array<std::string_view, 4> verbs_of_questions{"search", "estimate", "fit", "size"};
constexpr std::string_view blanks = " \t\r\n";

bool is_of_run(Field field) { return field == Field::deadline || field == Field::budget; }

/// What `plan estimate` has no flag for, or takes from the plan.
bool is_of_search(Field field) {
  return is_of_run(field) || field == Field::objective || field == Field::framework || field == Field::precision ||
         field == Field::optimizer || field == Field::lora_rank || field == Field::gpus;
}

std::string asked_text(const QuestionForm& form, Field field) {
  const bool is_edited = field == Field::machine && !form.machine_edits.empty() && !form[field].empty();
  return is_edited ? edited_machine_file(form[field], form.machine_edits) : form[field];
}

std::vector<GivenFlag> search_flags_of(const QuestionForm& form) {
  std::vector<GivenFlag> flags;
  std::string fixes;
  for (const FieldFacts& facts : all_fields()) {
    if (form[facts.field].empty() || is_of_run(facts.field)) continue;
    if (facts.axis == nullptr) {
      flags.emplace_back(facts.flag, asked_text(form, facts.field));
      continue;
    }
    const std::string_view axis = facts.axis->word();
    fixes += (fixes.empty() ? "" : ",") + std::string(axis) + "=" + axis_values(axis, form[facts.field]);
  }
  if (!fixes.empty()) flags.emplace_back("--fix", fixes);
  return flags;
}

std::vector<GivenFlag> estimate_flags_of(const QuestionForm& form, const Plan& plan) {
  std::vector<GivenFlag> flags;
  for (const FieldFacts& facts : all_fields())
    if (facts.axis == nullptr && !form[facts.field].empty() && !is_of_search(facts.field))
      flags.emplace_back(facts.flag, asked_text(form, facts.field));
  flags.emplace_back("--gpus", std::to_string(plan.machine.devices));
  const QuestionForm own = form_of(plan);
  for (const Field field : {Field::precision, Field::optimizer, Field::lora_rank})
    if (!own[field].empty()) flags.emplace_back(facts_of(field).flag, own[field]);
  for (const StrategyAxis& axis : strategy_axes())
    if (!axis.flag.empty() && axis.means_something(plan.strategy) && !axis.is_usual(plan.strategy))
      flags.emplace_back(axis.flag, axis.text(plan.strategy));
  return flags;
}

std::string command_line(const std::string& verb, const std::vector<GivenFlag>& flags) {
  std::string line = "plan " + verb;
  for (const auto& [flag, text] : flags) line += " " + flag + " " + shell_quoted(text);
  return line;
}

/// "gpus=64", "tokens=\"15T\"", "for_=\"megatron-lm\"".
std::string python_argument(const GivenFlag& given) {
  std::string name = given.first.substr(2);
  std::replace(name.begin(), name.end(), '-', '_');
  if (name == "for") name += "_";
  const std::string& text = given.second;
  constexpr std::size_t most_digits = 18;
  const bool is_number = !text.empty() && text.size() <= most_digits && text.front() != '0' &&
                         text.find_first_not_of("0123456789") == std::string::npos;
  return name + "=" + (is_number ? text : python_literal(Json(text)));
}

std::string python_call(const std::string& verb, const std::vector<GivenFlag>& flags) {
  std::string call = "plumbline." + verb + "(";
  for (const GivenFlag& given : flags) call += (call.back() == '(' ? "" : ", ") + python_argument(given);
  return call + ")";
}

/// The words of the first command, without a prompt.
std::vector<std::string> words_of_command(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  if (text.starts_with("$ ")) text.remove_prefix(2);
  const ShellScript script = read_shell(text, "command");
  return script.commands.empty() ? std::vector<std::string>() : script.commands.front().words;
}

/// "tp=8|4,zero=1" into the fields of the axes.
void take_fixes(std::string_view text, QuestionForm& form) {
  while (!text.empty()) {
    const std::size_t end = text.find(',');
    const std::string_view one = text.substr(0, end);
    const std::size_t equals = one.find('=');
    const std::string flag = "--" + std::string(one.substr(0, equals));
    const auto facts = std::find_if(all_fields().begin(), all_fields().end(),
                                    [&](const FieldFacts& f) { return f.axis != nullptr && f.flag == flag; });
    if (equals == std::string_view::npos || facts == all_fields().end())
      throw InputError({"--fix " + std::string(one), "has no field in this window", "", ""});
    std::string values(one.substr(equals + 1));
    std::replace(values.begin(), values.end(), '|', ',');
    form[facts->field] = values;
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
}

/// What says how an answer is shown, and not what is asked.
bool is_of_output(const std::string& flag) {
  constexpr std::array<std::string_view, 8> flags{"--json",  "--all",      "--pareto", "--verbose",
                                                  "--quiet", "--no-color", "--force",  "--executable"};
  return std::find(flags.begin(), flags.end(), flag) != flags.end();
}

bool is_of_output_with_value(const std::string& flag) {
  constexpr std::array<std::string_view, 4> flags{"--top", "--out", "--threads", "--time-limit"};
  return std::find(flags.begin(), flags.end(), flag) != flags.end();
}

}  // namespace

std::string search_command(const QuestionForm& form) { return command_line("search", search_flags_of(form)); }

std::string estimate_command(const QuestionForm& form, const Plan& plan) {
  return command_line("estimate", estimate_flags_of(form, plan));
}

std::string search_python(const QuestionForm& form) { return python_call("search", search_flags_of(form)); }

std::string estimate_python(const QuestionForm& form, const Plan& plan) {
  return python_call("estimate", estimate_flags_of(form, plan));
}

bool is_command(std::string_view text) {
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return false;
  text.remove_prefix(first);
  if (text.starts_with("$ ")) text.remove_prefix(2);
  return std::any_of(verbs_of_questions.begin(), verbs_of_questions.end(),
                     [&](std::string_view verb) { return text.starts_with("plan " + std::string(verb) + " "); });
}

QuestionForm form_of_command(std::string_view text) {
  const std::vector<std::string> words = words_of_command(text);
  QuestionForm form;
  for (std::size_t i = 2; i < words.size(); ++i) {
    std::string flag = words[i];
    if (is_of_output(flag)) continue;
    std::optional<std::string> value;
    if (const std::size_t equals = flag.find('='); flag.starts_with("--") && equals != std::string::npos) {
      value = flag.substr(equals + 1);
      flag.resize(equals);
    } else if (i + 1 < words.size()) {
      value = words[++i];
    }
    const auto facts =
        std::find_if(all_fields().begin(), all_fields().end(), [&](const FieldFacts& one) { return one.flag == flag; });
    const bool is_known = flag == "--fix" || facts != all_fields().end() || is_of_output_with_value(flag);
    if (!is_known) throw InputError({flag, "has no field in this window", "a flag of the question", ""});
    if (!value) throw InputError({flag, "has no value", "", ""});
    if (flag == "--fix") take_fixes(*value, form);
    if (facts != all_fields().end()) form[facts->field] = *value;
  }
  return form;
}

std::optional<std::string> others_than(const StrategyAxis& axis, const Plan& plan) {
  const std::string own = axis.text(plan.strategy);
  std::vector<std::string> values;
  if (axis.kind == AxisKind::choice) values = axis.names;
  if (axis.kind == AxisKind::toggle) values = {"on", "off"};
  if (axis.kind == AxisKind::number) {
    // Degrees divide the GPUs, micro-batches the batch; few values lie between.
    constexpr std::int64_t most_listed = 8;
    const std::int64_t whole = axis.flag == "--micro-batch" ? plan.training.global_batch : plan.machine.devices;
    const std::int64_t most = std::min(axis.most, std::max<std::int64_t>(whole, 1));
    for (std::int64_t value = axis.least; value <= most; ++value)
      if (most <= most_listed || (value > 0 && whole % value == 0)) values.push_back(std::to_string(value));
  }
  std::erase(values, own);
  constexpr std::size_t most_values = 64;
  if (values.empty() || values.size() > most_values) return std::nullopt;
  std::string text;
  for (const std::string& value : values) text += (text.empty() ? "" : ",") + value;
  return text;
}

}  // namespace plumbline::gui
