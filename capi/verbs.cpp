#include "capi/verbs.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "capi/catalogues.h"
#include "capi/export.h"
#include "capi/offers.h"
#include "capi/run.h"
#include "core/base/errors.h"
#include "core/plan/strategy_axes.h"
#include "planner/session/flags/foreign_flags.h"

namespace plumbline::capi {
namespace {

using session::BoundOption;
using session::UseCase;

/// Of the session, and those that need more than it sees.
const std::vector<session::UseCaseRow>& verbs() {
  static const std::vector<session::UseCaseRow> rows = [] {
    std::vector<session::UseCaseRow> all = session::use_cases();
    all.insert(all.end(), {{"changes", changes_use_case},
                           {"export", export_use_case},
                           {"run", run_use_case},
                           {"models", models_use_case},
                           {"machines", machines_use_case},
                           {"stacks", stacks_use_case}});
    return all;
  }();
  return rows;
}

UseCase asked(const std::string& verb) {
  const auto found =
      std::find_if(verbs().begin(), verbs().end(), [&](const session::UseCaseRow& row) { return row.name == verb; });
  if (found != verbs().end()) return found->make();
  std::vector<std::string> names;
  for (const session::UseCaseRow& row : verbs()) names.emplace_back(row.name);
  throw InputError({"verb", "\"" + verb + "\" is none", "one of plumbline_verbs", nearest_text(verb, names)});
}

void give(const BoundOption& option, Given& given) {
  auto node = given.extract(option.words.flag);
  if (!node) return;
  if (node.mapped().empty()) throw InputError({option.words.flag, "its value is empty", "a value", ""});
  option.give(std::move(node.mapped()));
}

/// The flags by which files and plans are named in a question.
std::vector<std::string> named_inputs(const session::Inputs& inputs) {
  std::vector<std::string> flags;
  if (inputs.source.plan || inputs.source.plan_file) flags.emplace_back("--plan");
  if (!inputs.source.launch_files.empty()) flags.emplace_back("--import");
  if (inputs.against.plan || inputs.against.plan_file) flags.emplace_back("--against");
  return flags;
}

/// What is given and no option of the verb.
void refuse_rest(const std::string& verb, const Question& question, const UseCase& use_case) {
  std::vector<std::string> known;
  for (const BoundOption& option : use_case.options) known.push_back(option.words.flag);
  std::vector<std::string> unknown;
  for (std::string& flag : named_inputs(question.inputs))
    if (std::find(known.begin(), known.end(), flag) == known.end()) unknown.push_back(std::move(flag));
  for (const auto& [flag, text] : question.given) unknown.push_back(flag);
  if (unknown.empty()) return;
  const std::string& flag = unknown.front();
  throw InputError({flag, "unknown argument of plumbline." + verb, "", session::nearest_flag(flag, known)});
}

std::string_view kind_text(AxisKind kind) {
  switch (kind) {
    case AxisKind::number: return "number";
    case AxisKind::toggle: return "toggle";
    case AxisKind::choice: return "choice";
    case AxisKind::recompute: return "recompute";
    case AxisKind::layers: break;
  }
  return "layers";
}

Json option_json(const BoundOption& option) {
  const StrategyAxis* axis = option.axis;
  return Json::Object{{"flag", option.words.flag},
                      {"values", axis != nullptr ? axis->values : option.words.values},
                      {"help", axis != nullptr ? axis->help : option.words.help},
                      {"several", option.words.several},
                      {"large", option.words.is_large},
                      {"kind", axis != nullptr ? Json(kind_text(axis->kind)) : Json()},
                      {"input", !option.give}};
}

}  // namespace

session::Work work_of(const std::string& verb, Question question) {
  const UseCase use_case = asked(verb);
  for (const BoundOption& option : use_case.options)
    if (option.give) give(option, question.given);
  refuse_rest(verb, question, use_case);
  session::Work work = use_case.work(question.inputs);
  return verb == "fit" && question.with_offers ? with_offers(std::move(work)) : work;
}

Json verbs_json() {
  Json::Object all;
  for (const session::UseCaseRow& row : verbs()) {
    Json::Array options;
    for (const BoundOption& option : row.make().options) options.push_back(option_json(option));
    all.emplace_back(row.name, std::move(options));
  }
  Json::Array keys;
  for (const StrategyAxis* axis : strategy_axes_by(&StrategyAxis::file_place))
    if (axis->in_files != InFiles::where_unusual)
      keys.push_back(Json::Object{{"key", axis->key}, {"kind", kind_text(axis->kind)}});
  return Json::Object{{"verbs", std::move(all)}, {"strategy_keys", std::move(keys)}};
}

}  // namespace plumbline::capi
