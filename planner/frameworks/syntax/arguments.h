#pragma once
/// \file arguments.h: command lines and the shell scripts that hold them, as a tree of values.

#include <string>
#include <string_view>

#include "core/io/json.h"

namespace plumbline {

/// An object of flags ("--micro-batch-size": 4; a flag without value: true; several values: an array) in the order of
/// the text. Understands scripts: comments, line continuations, quotes, variables that are assigned in the same text
/// (NAME=value, NAME=(a b), $NAME, ${NAME}, ${NAME:-default}, ${NAME[@]}, $((arithmetic))), several commands of
/// which the one with the most flags counts. Other substitutions stay as text. Throws InputError (`name`) for a text
/// over 1 MiB and where no flag is found.
[[nodiscard]] Json read_arguments(std::string_view text, std::string_view name);
/// "--a 4 --b", one flag a line, quoted for the shell.
[[nodiscard]] std::string arguments_text(const Json& tree);

}  // namespace plumbline
