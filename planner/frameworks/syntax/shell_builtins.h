#pragma once
/// \file shell_builtins.h: what builtins of bash and calls of functions do to a script's variables.
///
/// Model: what a builtin assigns is unknown from then on (read, printf -v, let, declare, ...), or gone (unset).
/// Source: GNU Bash Reference Manual 5.2, sections 4.1 and 4.2. Checked against:
/// tests/integration/shell_against_bash_test.cpp.

#include <string>
#include <string_view>
#include <vector>

#include "planner/frameworks/syntax/shell_variables.h"

namespace plumbline {

/// Whether what follows is assignments: export, local, declare and the like.
[[nodiscard]] bool is_declaration(std::string_view word);
/// The variable that `word` begins with is unknown from now on.
void forget_named(std::string_view word, ShellVariables& variables);
/// `words`: behind the builtin's name.
void run_builtin(const std::string& name, const std::vector<std::string>& words, ShellVariables& variables);
/// Arguments of a function as variables "1", "2", ...; "$@" of the script itself is nothing.
void pass_arguments(const std::vector<std::string>& command, ShellVariables& variables);
/// Behind the function: the arguments as they were at `mark`.
void restore_arguments(ShellVariables::Mark mark, ShellVariables& variables);

}  // namespace plumbline
