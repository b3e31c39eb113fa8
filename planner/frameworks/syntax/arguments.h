#pragma once
/// \file arguments.h: command lines and the shell scripts that hold them, as a tree of values.
///
/// Not modelled: conditions and loops (all of their branches are read, in the order of the text), functions, what other
/// programs print. Checked against: tests/unit/planner/frameworks/syntax/arguments_test.cpp.

#include <string>
#include <string_view>
#include <vector>

#include "core/io/json.h"

namespace plumbline {

/// An object of flags ("--micro-batch-size": 4; a flag without value: true; several values: an array) in the order of
/// the text; of a flag that is given twice the last value. Understands scripts: comments, line continuations, quotes,
/// variables that are assigned in the same text (NAME=value, NAME=(a b), $NAME, ${NAME}, ${NAME:-default}, ${NAME[@]},
/// $((arithmetic))), several commands of which the one with the most flags counts, also inside a quoted word. Other
/// substitutions stay as text that begins with '$' or '`'. A word that ends in ".py" is a program, never a value. Flags
/// of "#SBATCH" lines are keys that begin so ("#SBATCH --nodes"). Throws InputError (`name`) for a text over 1 MiB or
/// one that expands to more than 16 MiB, for quotes and brackets that are not closed, and where no flag is found.
[[nodiscard]] Json read_arguments(std::string_view text, std::string_view name);
/// Whether a value is a substitution that the text does not resolve: "$NNODES".
[[nodiscard]] bool is_unresolved(const Json& value);
/// "--a 4\n--b\n", one flag a line, quoted for the shell.
[[nodiscard]] std::string arguments_text(const Json& tree);
/// The same as words, unquoted: "--a", "4", "--b".
[[nodiscard]] std::vector<std::string> argument_words(const Json& tree);
/// One word as the shell needs it: 'E|t*3'.
[[nodiscard]] std::string shell_quoted(std::string_view word);

}  // namespace plumbline
