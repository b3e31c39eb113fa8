#pragma once
/// \file use_case.h: what can be asked, as rows: who offers several use-cases loops over them.
///
/// A use-case binds the tables of options that it reads (option.h) to flags of its own and turns them, with the plan or
/// the files that are named beside them, into work, which answers with JSON, tables, sentences and plans (answer.h). To
/// add one: a function NAME_use_case in its folder of planner/session and a row of PLUMBLINE_USE_CASES. Checked
/// against: tests/unit/planner/session/use_case/use_case_test.cpp, tests/python.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/option.h"
#include "core/quantity/quantity.h"
#include "planner/question/task.h"
#include "planner/session/strategy_flags.h"
#include "planner/session/use_case/answer.h"

/// In the order of help.
#define PLUMBLINE_USE_CASES(ROW) \
  ROW(search)                    \
  ROW(fit)                       \
  ROW(fit_limits)                \
  ROW(estimate)                  \
  ROW(explain)                   \
  ROW(simulate)                  \
  ROW(size)                      \
  ROW(validate)                  \
  ROW(calibrate)                 \
  ROW(compare)                   \
  ROW(import_files)

namespace plumbline::session {

/// A plan or launch files in place of flags; nothing of it: the flags say all.
struct Source {
  std::optional<std::string> plan_file = {};
  SharedPlan plan = {};
  std::vector<std::string> launch_files = {};
};

/// What is named beside flags.
struct Inputs {
  Source source = {};
  Source against = {};                  ///< of `explain`: what it is compared with; or nothing
  std::vector<std::string> files = {};  ///< measured runs, the record of a run, launch files to be read
};

/// What was asked, its flags read: the work itself, and when it is to be stopped.
struct Work {
  std::function<Answer(const Task&)> run;
  std::optional<Seconds> time_limit;
};

/// An option of whatever flags, with the place of its text. `give` throws InputError for a text that is none of its.
struct BoundOption {
  OptionWords words;                      ///< of an axis its flag alone
  std::function<void(std::string)> give;  ///< none: it is one of `Inputs`
  const StrategyAxis* axis = nullptr;     ///< of the strategy that it is; else none
};

struct UseCase {
  std::vector<BoundOption> options;  ///< in the order in which they are read
  /// Of what was given. Reads the files that are named. Throws InputError naming the flag or the file.
  std::function<Work(const Inputs&)> work;
};

#define PLUMBLINE_DECLARE_USE_CASE(name) [[nodiscard]] UseCase name##_use_case();
PLUMBLINE_USE_CASES(PLUMBLINE_DECLARE_USE_CASE)
#undef PLUMBLINE_DECLARE_USE_CASE

/// Named as the function of the Python module.
struct UseCaseRow {
  std::string_view name;
  UseCase (*make)();
};
[[nodiscard]] const std::vector<UseCaseRow>& use_cases();
/// Nothing was given to it yet; nullopt: there is none of that name.
[[nodiscard]] std::optional<UseCase> use_case(std::string_view name);

/// "on" or "off", and texts apart by commas. Throw InputError naming the flag.
void give_switch(const std::string& flag, const std::string& text, bool& is_on);
void give_list(const std::string& flag, const std::string& text, std::vector<std::string>& texts);

/// `flags` must outlive what is bound, as tables of options do.
template <class Flags>
[[nodiscard]] BoundOption bound(const Option<Flags>& option, Flags& flags) {
  if (option.is_on)
    return {option.words,
            [&option, &flags](const std::string& text) { give_switch(option.words.flag, text, option.is_on(flags)); }};
  if (option.text) return {option.words, [&option, &flags](std::string text) { option.text(flags) = std::move(text); }};
  return {option.words,
          [&option, &flags](const std::string& text) { give_list(option.words.flag, text, option.list(flags)); }};
}
template <class Flags>
void bind_options(std::vector<BoundOption>& all, const Options<Flags>& options, Flags& flags) {
  for (const Option<Flags>& option : options) all.push_back(bound(option, flags));
}
/// An option that no table has: a text, its flag and its values as help shows them.
[[nodiscard]] BoundOption bound(const char* flag, const char* values, std::optional<std::string>& text);
/// One of `Inputs`.
[[nodiscard]] BoundOption input(const char* flag);
/// Of a strategy.
void bind_options(std::vector<BoundOption>& all, StrategyFlags& flags);

}  // namespace plumbline::session
