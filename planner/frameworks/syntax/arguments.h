#pragma once
/// \file arguments.h: command lines and the shell scripts that hold them, as a tree of values.
///
/// Model: bash, as far as it is read. A variable has the value that the text gives it, with subshells, pipelines, jobs
/// in the background, functions where they are called, and assignments ahead of a command, which are that command's
/// alone. What a branch, a loop, `read`, `let`, `unset` or another form assigns that is not read is unknown: it stays
/// as "$NAME", as do flags to which branches give different values. Not modelled: conditions (what a branch appends to
/// a list counts as appended), `source`, `eval` of texts that are not known, braces such as {1,2}, what other programs
/// print. Checked against: tests/unit/planner/frameworks/syntax/arguments_test.cpp, and against bash on random scripts:
/// tests/integration/shell_against_bash_test.cpp.

#include <string>
#include <string_view>
#include <vector>

#include "core/io/json.h"

namespace plumbline {

/// An object of flags ("--micro-batch-size": 4; a flag without value: true; several values: an array) in the order of
/// the text; of a flag that is given twice the last value. Understands scripts: comments, line continuations, quotes,
/// variables that are assigned in the same text (NAME=value, NAME=(a b), $NAME, ${NAME}, ${NAME:-default}, ${NAME[@]},
/// $((arithmetic))), several commands of which the one with the most flags counts, also inside a quoted word. Other
/// substitutions stay as text that begins with '$' or '`', and "<PATH TO DATA>" as it is. A word that ends in ".py" is
/// a program, never a value. Flags of "#SBATCH" lines are keys that begin so ("#SBATCH --nodes"). Throws InputError
/// (`name`) for a text over 1 MiB or one that expands to more than 16 MiB, for quotes and brackets that are not closed,
/// and where no flag is found.
[[nodiscard]] Json read_arguments(std::string_view text, std::string_view name);
/// Whether a value is a substitution that the text does not resolve ("$NNODES"), or to be filled in ("<NUMBER>").
[[nodiscard]] bool is_unresolved(const Json& value);
/// "--a 4\n--b\n", one flag a line, quoted for the shell.
[[nodiscard]] std::string arguments_text(const Json& tree);
/// The same as words, unquoted: "--a", "4", "--b".
[[nodiscard]] std::vector<std::string> argument_words(const Json& tree);

}  // namespace plumbline
