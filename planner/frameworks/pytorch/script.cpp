#include "planner/frameworks/pytorch/script.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include "core/base/errors.h"
#include "planner/frameworks/launch/script_parts.h"
#include "planner/frameworks/launch/torch_optimizers.h"
#include "planner/frameworks/syntax/quoting.h"
#include "planner/frameworks/syntax/script_template.h"

namespace plumbline::pytorch {
namespace {

constexpr std::size_t largest_script_text = std::size_t{1} << 20;

/// A constant's value: Python's True and False, and else what is JSON as well.
std::optional<Json> value_of(std::string_view text) {
  if (text == "True" || text == "False") return Json(text == "True");
  try {
    return parse_json(text, "");
  } catch (const InputError&) {
    return std::nullopt;
  }
}

bool is_constant(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return std::isupper(static_cast<unsigned char>(c)) != 0 || std::isdigit(static_cast<unsigned char>(c)) != 0 ||
           c == '_';
  });
}

std::string_view without_comment(std::string_view text) {
  const std::size_t quote = text.find_last_of('"');
  const std::size_t hash = text.find('#', quote == std::string_view::npos ? 0 : quote);
  text = text.substr(0, std::min(hash, text.size()));
  const std::size_t last = text.find_last_not_of(" \t\r");
  return text.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

/// "torch.optim.AdamW(parameters, betas=betas, **numbers, **epsilon)", of names in templates/recipe.py.
std::string constructor_call(const TorchOptimizer& row) {
  const Hyperparameters& reads = facts(row.optimizer).reads;
  std::string call = std::string(row.constructor) + "(parameters";
  if (reads.has(Hyperparameter::momentum)) call += ", momentum=said(MOMENTUM, 0.9)";
  if (reads.has(Hyperparameter::beta1))
    call += ", betas=betas";
  else if (reads.has(Hyperparameter::beta2))
    call += ", alpha=said(BETA2, 0.99)";
  if (!reads.has(Hyperparameter::weight_decay)) return call + ", **adaptive)";
  return call + ", **numbers" + (reads.has(Hyperparameter::epsilon) ? ", **epsilon)" : ")");
}

/// The last statement of optimizer_of(parameters).
std::string optimizer_choice() {
  std::string text;
  for (const TorchOptimizer& row : torch_optimizers) {
    if (row.takes == Takes::whole_matrices || !row.package.empty()) continue;
    text += text.empty() ? "return {" : ",\n        ";
    text += "\"" + std::string(to_text(row.optimizer)) + "\": lambda: " + constructor_call(row);
  }
  return text + "}[OPTIMIZER]()";
}

std::string recipe_text() {
  return filled_script(script_template("pytorch/templates/recipe"),
                       {{"optimizers", optimizer_choice()}, {"rate_factor", rate_factor_function()}});
}

}  // namespace

std::string script_text(const std::string& what, const Json& constants) {
  std::string lines;
  if (const Json::Object* const all = constants.if_object())
    for (const auto& [name, value] : *all) lines += name + " = " + python_literal(value) + "\n";
  return filled_script(script_template("pytorch/templates/train"),
                       {{"PLUMBLINE_TITLE", comment_text(what)},
                        {"constants", lines},
                        {"reshards_to_group", constants.find("SECONDARY_SHARD_GROUP") != nullptr},
                        {"network", filled_script(script_template("pytorch/templates/network"), {})},
                        {"recipe", recipe_text()}});
}

Json read_script(std::string_view text, std::string_view name) {
  if (text.size() > largest_script_text) throw InputError({std::string(name), "over 1 MiB", "a training script", ""});
  Json::Object constants;
  const auto is_known = [&](std::string_view key) {
    return std::any_of(constants.begin(), constants.end(), [&](const Json::Member& one) { return one.first == key; });
  };
  for (std::size_t start = 0; start < text.size() && constants.size() < 100;) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    const std::string_view line = text.substr(start, end - start);
    start = end + 1;
    const std::size_t equals = line.find(" = ");
    if (equals == std::string_view::npos || !is_constant(line.substr(0, equals)) || is_known(line.substr(0, equals)))
      continue;
    if (auto value = value_of(without_comment(line.substr(equals + 3))))
      constants.emplace_back(std::string(line.substr(0, equals)), std::move(*value));
  }
  if (constants.empty())
    throw InputError({std::string(name), "no constants", "a script of `plan export --to pytorch`", ""});
  return Json(std::move(constants));
}

}  // namespace plumbline::pytorch
