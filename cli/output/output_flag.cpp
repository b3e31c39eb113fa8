#include "cli/output/output_flag.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <filesystem>

#include "core/base/errors.h"
#include "core/io/output_file.h"

namespace plumbline {
namespace {

constexpr const char* force_flag = "--force";

/// Two names of one file. Devices are none.
bool is_one_file(const std::string& one, const std::string& other) {
  const std::filesystem::path a = std::filesystem::path(one).lexically_normal();
  const std::filesystem::path b = std::filesystem::path(other).lexically_normal();
  std::error_code ignored;
  if (std::filesystem::exists(a, ignored) && !std::filesystem::is_regular_file(a, ignored)) return false;
  return a == b || std::filesystem::equivalent(a, b, ignored);
}

/// What was written first would be lost.
void require_different(const OutputFlag& one, const OutputFlag& other) {
  if (is_one_file(*one.name(), *other.name()))
    throw InputError(
        {other.flag(), "\"" + *other.name() + "\" is the file of " + one.flag() + " too", "another file for each", ""});
}

}  // namespace

void declare_force(CLI::App& app) {
  if (app.get_option_no_throw(force_flag) == nullptr)
    app.add_flag(force_flag)
        ->description("replace files that the command reads, or that somebody has changed")
        ->group("Output");
}

bool is_forced(const CLI::App& app) { return app.count(force_flag) > 0; }

void OutputFlag::declare(CLI::App& app, const char* help, const char* group) {
  app.add_option(flag_, name_, help)->group(group)->type_name("FILE");
  declare_force(app);
  app_ = &app;
}

void OutputFlag::require_no_input() const {
  std::error_code ignored;
  if (app_ == nullptr || is_forced(*app_) || !std::filesystem::is_regular_file(*name_, ignored)) return;
  for (const CLI::Option* option : app_->get_options()) {
    if (option->get_single_name() == std::string(flag_).substr(2)) continue;
    for (const std::string& word : option->results())
      if (is_one_file(*name_, word))
        throw InputError({flag_, "\"" + *name_ + "\" is read by this command (" + option->get_name() + ")",
                          "another file, or --force to replace it", ""});
  }
}

std::filesystem::path OutputFlag::folder() const {
  return !name_ || is_standard_output() ? std::filesystem::path() : std::filesystem::path(*name_).parent_path();
}

void OutputFlag::write(const std::function<std::string()>& text, Terminal& terminal, Narration narration) const {
  if (!name_) return;
  if (is_standard_output()) {
    terminal.print_file(text());
    return;
  }
  write_output_file(*name_, text());
  if (narration == Narration::notes && *what_ != '\0') terminal.note(std::string(what_) + " written to " + *name_);
}

std::string OutputFlag::stem(const char* expected) const {
  if (!name_) throw InputError({flag_, "is missing", expected, ""});
  if (is_standard_output()) return "own";
  std::string stem = std::filesystem::path(*name_).stem().string();
  if (stem.empty()) throw InputError({flag_, "\"" + *name_ + "\" names no file", "a file such as mine.json", ""});
  return stem;
}

void require_writable(const std::vector<const OutputFlag*>& flags, StandardOutput use, Terminal& terminal) {
  std::vector<const OutputFlag*> given;
  for (const OutputFlag* flag : flags) {
    if (!*flag) continue;
    for (const OutputFlag* other : given) require_different(*other, *flag);
    given.push_back(flag);
    if (!flag->is_standard_output()) {
      flag->require_no_input();
      require_writable_file(flag->flag(), *flag->name());
    } else if (use == StandardOutput::json) {
      throw InputError(
          {flag->flag(), "\"-\" cannot be combined with --json, which is on standard output too", "one of them", ""});
    } else {
      terminal.leave_standard_output();
    }
  }
}

}  // namespace plumbline
