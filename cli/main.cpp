// plan: finds the verb, hands it the flags, and turns what went wrong into one line and an exit code.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "cli/failure.h"
#include "cli/option_help.h"
#include "cli/verb.h"
#include "core/base/errors.h"

namespace plumbline {
namespace {

std::unique_ptr<Verb> find_verb(const std::string& name) {
  std::vector<std::unique_ptr<Verb>> verbs = all_verbs();
  std::vector<std::string> names;
  for (auto& verb : verbs) {
    if (verb->words().name == name) return std::move(verb);
    names.emplace_back(verb->words().name);
  }
  std::string expected;
  for (const std::string& known : names) expected += (expected.empty() ? "" : ", ") + known;
  throw InputError({name.substr(0, 60), "unknown verb", "one of " + expected, nearest_text(name, names)});
}

/// What CLI11 did not take: an unknown flag or a stray word.
void refuse_extras(const CLI::App& app, const VerbWords& words) {
  const std::vector<std::string> extras = app.remaining();
  if (extras.empty()) return;
  std::string extra = extras.front();
  if (extra.size() < 2 || extra.front() != '-')
    throw InputError(
        {extra.substr(0, 60), "unexpected argument", "flags; see plan " + std::string(words.name) + " --help", ""});
  extra = extra.substr(0, extra.find('='));
  std::vector<std::string> names;
  for (const FlagWords& flag : flags_of(app)) names.push_back(flag.name);
  throw InputError(
      {extra.substr(0, 60), "unknown flag of plan " + std::string(words.name), "", nearest_text(extra, names)});
}

/// "--gpus: 1 required N missing" in our words.
[[noreturn]] void refuse_parse_error(const CLI::ParseError& error, const VerbWords& words) {
  const std::string text = error.what();
  if (const std::size_t colon = text.find(':'); colon != std::string::npos && text.starts_with("--"))
    throw InputError({text.substr(0, colon), "its value is missing or not one",
                      "a value; see plan " + std::string(words.name) + " --help", ""});
  throw InputError({"plan " + std::string(words.name), text, "", ""});
}

ExitCode run_verb(Verb& verb, const std::vector<std::string>& arguments, Terminal& terminal) {
  CLI::App app;
  app.set_help_flag("-h,--help", "this text")->group("Output");
  app.allow_extras();
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  verb.declare(app);
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::CallForHelp&) {
    terminal.print(help_text(verb.words(), flags_of(app)));
    return ExitCode::done;
  } catch (const CLI::ParseError& error) {
    refuse_parse_error(error, verb.words());
  }
  refuse_extras(app, verb.words());
  return verb.run(terminal);
}

ExitCode run(const std::vector<std::string>& arguments, Terminal& terminal) {
  if (arguments.empty()) throw InputError({"", "no verb", "one; see plan --help", ""});
  const std::string& first = arguments.front();
  if (first == "--help" || first == "-h" || first == "help") {
    terminal.print(overview_text());
    return ExitCode::done;
  }
  if (first == "--version") {
    terminal.print("plan " PLUMBLINE_VERSION "\n");
    return ExitCode::done;
  }
  if (first.starts_with("-"))
    throw InputError({first.substr(0, 60), "unknown flag", "a verb first; see plan --help",
                      nearest_text(first, {"--help", "--version"})});
  const std::unique_ptr<Verb> verb = find_verb(first);
  return run_verb(*verb, {arguments.begin() + 1, arguments.end()}, terminal);
}

}  // namespace
}  // namespace plumbline

int main(int count, char** words) {
  using namespace plumbline;
  try {
    Terminal terminal;
    const ExitCode code = run({words + 1, words + count}, terminal);
    terminal.finish();
    return static_cast<int>(code);
  } catch (...) {
    const Failure failure = failure_of(std::current_exception());
    print_failure(failure);
    return static_cast<int>(failure.code);
  }
}
