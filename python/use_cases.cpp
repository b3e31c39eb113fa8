#include "python/use_cases.h"

#include "core/base/errors.h"
#include "planner/session/flags/foreign_flags.h"
#include "python/run.h"

namespace plumbline::python {
namespace {

/// Of the session; a run needs the runtime too, which the session does not see.
session::UseCase asked(const std::string& function) {
  if (function == "run") return run_use_case();
  std::optional<session::UseCase> found = session::use_case(function);
  check(found.has_value(), "only functions of the module are asked about");
  return std::move(*found);
}

void give(const session::BoundOption& option, Given& given) {
  auto node = given.extract(option.words.flag);
  if (!node) return;
  if (node.mapped().empty()) throw InputError({option.words.flag, "its value is empty", "a value", ""});
  option.give(std::move(node.mapped()));
}

void refuse_rest(const std::string& function, const Given& given, const session::UseCase& use_case) {
  if (given.empty()) return;
  std::vector<std::string> flags;
  for (const session::BoundOption& option : use_case.options) flags.push_back(option.words.flag);
  const std::string& flag = given.begin()->first;
  throw InputError({flag, "unknown argument of plumbline." + function, "", session::nearest_flag(flag, flags)});
}

std::string type_of(const session::BoundOption& option) {
  if (!option.give) return "";
  return option.axis != nullptr ? argument_type(*option.axis) : argument_type(option.words);
}

}  // namespace

Work work_of(const std::string& function, Given given, const session::Inputs& inputs) {
  const session::UseCase use_case = asked(function);
  for (const session::BoundOption& option : use_case.options)
    if (option.give) give(option, given);
  refuse_rest(function, given, use_case);
  return use_case.work(inputs);
}

std::vector<TypedName> flag_types(const std::string& function) {
  std::vector<TypedName> types;
  for (const session::BoundOption& option : asked(function).options)
    types.emplace_back(option.words.flag, type_of(option));
  return types;
}

}  // namespace plumbline::python
