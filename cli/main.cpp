// plan: finds the verb, hands it the flags, and turns what went wrong into one line and an exit code.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <csignal>

#include "cli/failure.h"
#include "cli/interruption.h"
#include "cli/option_help.h"
#include "cli/verb.h"
#include "cli/version_text.h"
#include "core/base/errors.h"
#include "planner/session/flags/foreign_flags.h"

namespace plumbline {
namespace {

/// What CLI11 did not take: an unknown flag or a stray word.
void refuse_extras(const CLI::App& app, const VerbWords& words) {
  const std::vector<std::string> extras = app.remaining();
  if (extras.empty()) return;
  std::string extra = extras.front();
  if (extra.size() < 2 || extra.front() != '-')
    throw InputError(
        {extra.substr(0, 60), "unexpected argument", "flags; see plan " + std::string(words.name) + " --help", ""});
  std::string value;
  if (const std::size_t equals = extra.find('='); equals != std::string::npos)
    value = extra.substr(equals + 1);
  else if (extras.size() > 1 && !extras[1].starts_with('-'))
    value = extras[1];
  extra = extra.substr(0, extra.find('='));
  std::vector<std::string> names;
  for (const FlagWords& flag : flags_of(app)) names.push_back(flag.name);
  throw InputError({extra.substr(0, 60), "unknown flag of plan " + std::string(words.name), "",
                    session::nearest_flag(extra, names, value)});
}

/// "--gpus: 1 required N missing" in our words.
[[noreturn]] void refuse_parse_error(const CLI::ParseError& error, const VerbWords& words) {
  const std::string text = error.what();
  if (const std::size_t colon = text.find(':'); colon != std::string::npos && text.starts_with("--"))
    throw InputError({text.substr(0, colon), "its value is missing or not one",
                      "a value; see plan " + std::string(words.name) + " --help", ""});
  throw InputError({"", text, "see plan " + std::string(words.name) + " --help", ""});
}

/// Not `--sequence-parallel` alone, which CLI11 gives an empty value as well.
bool is_given_empty(const CLI::Option& option, const std::vector<std::string>& arguments) {
  if (option.get_expected_min() > 0) return true;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (arguments[i] == option.get_name() + "=" ||
        (arguments[i] == option.get_name() && i + 1 < arguments.size() && arguments[i + 1].empty()))
      return true;
  return false;
}

/// An empty value is often a variable of a script that was not set.
void refuse_empty_values(const CLI::App& app, const std::vector<std::string>& arguments) {
  for (const CLI::Option* option : app.get_options()) {
    const std::string type = option->get_type_name();
    const bool names_a_file = type == "FILE" || type == "DIR" || type == "PATH";
    for (const std::string& value : option->results())
      if (value.empty() && is_given_empty(*option, arguments))
        throw InputError(
            {option->get_name(), "its value is empty", names_a_file ? "the name of a file or folder" : "a value", ""});
  }
}

/// Reads the flags; false when help was all that was asked for.
bool parse(CLI::App& app, Verb& verb, const std::vector<std::string>& arguments, Terminal& terminal) {
  app.set_help_flag("-h,--help", "this text")->group("Output");
  app.allow_extras();
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  verb.declare(app);
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::CallForHelp&) {
    terminal.print(help_text(verb.words(), flags_of(app)));
    return false;
  } catch (const CLI::ParseError& error) {
    refuse_parse_error(error, verb.words());
  }
  refuse_extras(app, verb.words());
  refuse_empty_values(app, arguments);
  verb.check_flags();
  return true;
}

/// The verb of a command line, ready to run; none when help or the version was all that was asked for. What it throws
/// every process of a job throws.
std::unique_ptr<Verb> asked_verb(CLI::App& app, const std::vector<std::string>& arguments, Terminal& terminal) {
  if (arguments.empty()) throw InputError({"", "no verb", "one; see plan --help", ""});
  const std::string& first = arguments.front();
  if (first == "--help" || first == "-h" || first == "help") {
    terminal.print(overview_text());
    return nullptr;
  }
  if (first == "--version") {
    terminal.print(version_text());
    return nullptr;
  }
  if (first.starts_with("-"))
    throw InputError({first.substr(0, 60), "unknown flag", "a verb first; see plan --help",
                      nearest_text(first, {"--help", "--version"})});
  std::unique_ptr<Verb> verb = find_verb(first);
  return parse(app, *verb, {arguments.begin() + 1, arguments.end()}, terminal) ? std::move(verb) : nullptr;
}

/// Signals say what they end, and a file that grows beyond its limit is an error of the write.
void prepare_signals() {
  say_signals_that_end(is_first_of_launch() ? SignalWords::spoken : SignalWords::silent);
  std::signal(SIGXFSZ, SIG_IGN);
}

int run(const std::vector<std::string>& arguments) {
  Terminal terminal;
  CLI::App app;  // lives as long as the verb, which may ask it what was given
  std::unique_ptr<Verb> verb;
  try {
    verb = asked_verb(app, arguments, terminal);
  } catch (...) {
    const Failure failure = failure_of(std::current_exception());
    print_failure_once(failure);
    return static_cast<int>(failure.code);
  }
  const ExitCode code = verb ? verb->run(terminal) : ExitCode::done;
  terminal.finish();
  return static_cast<int>(code);
}

}  // namespace
}  // namespace plumbline

int main(int count, char** words) {
  using namespace plumbline;
  try {
    prepare_signals();
    return run({words + 1, words + count});
  } catch (...) {
    const Failure failure = failure_of(std::current_exception());
    print_failure(failure);
    return static_cast<int>(failure.code);
  }
}
