#pragma once
/// \file shell_words.h: a shell script as commands of words, with its own variables written in.
///
/// What is understood and what is not: arguments.h.
/// Checked against: tests/unit/planner/frameworks/syntax/arguments_test.cpp; bash itself, on random scripts, in
/// tests/integration/shell_against_bash_test.cpp.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "planner/frameworks/syntax/shell_variables.h"

namespace plumbline {

struct ShellCommand {
  std::vector<std::string> words;
  std::map<std::string, std::string, std::less<>> environment = {};  ///< "NGPU=8" ahead of it
  bool is_conditional = false;                                       ///< in a branch, a loop, or behind && or ||
};

struct ShellScript {
  std::vector<ShellCommand> commands;
  std::vector<std::string> batch_words;  ///< of lines "#SBATCH --nodes=4"
  ShellVariables variables;              ///< as they are at the end
};

/// Throws InputError as read_arguments.
[[nodiscard]] ShellScript read_shell(std::string_view text, std::string_view name);

}  // namespace plumbline
