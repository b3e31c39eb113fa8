#include "cli/output_flag.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <filesystem>

#include "core/base/errors.h"
#include "core/io/output_file.h"

namespace plumbline {
namespace {

/// Two names of one file: what was written first would be lost. Devices take both.
void require_different(const OutputFlag& one, const OutputFlag& other) {
  const std::filesystem::path a = std::filesystem::path(*one.name()).lexically_normal();
  const std::filesystem::path b = std::filesystem::path(*other.name()).lexically_normal();
  std::error_code ignored;
  const bool is_device = std::filesystem::exists(a, ignored) && !std::filesystem::is_regular_file(a, ignored);
  const bool is_one_file = a == b || std::filesystem::equivalent(a, b, ignored);
  if (is_one_file && !is_device)
    throw InputError(
        {other.flag(), "\"" + *other.name() + "\" is the file of " + one.flag() + " too", "another file for each", ""});
}

}  // namespace

void OutputFlag::declare(CLI::App& app, const char* help, const char* group) {
  app.add_option(flag_, name_, help)->group(group)->type_name("FILE");
}

void OutputFlag::write(const std::function<std::string()>& text, Terminal& terminal, Narration narration) const {
  if (!name_) return;
  if (is_standard_output()) {
    terminal.print_file(text());
    return;
  }
  write_output_file(*name_, text());
  if (narration == Narration::remarks && *what_ != '\0') terminal.remark(std::string(what_) + " written to " + *name_);
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
