#pragma once
/// \file quoting.h: text of unknown origin inside a file of another language: one function for each.
///
/// A model's name, a folder or a word of a command comes from files that other people wrote; none of it may become
/// code, a further key or a further line of what is exported. YAML and TOML documents are written whole from trees
/// (yaml.h, toml.h), with yaml_scalar and toml_value for what stands in them.
/// Source: Python's reference, section 2.4 (escapes of JSON strings mean the same in it); TOML 1.0 and YAML 1.2, whose
/// double-quoted strings are JSON's; POSIX.1-2017 section 2.2.2 (single quotes); sbatch(1) (options end at white space,
/// quotes are read as a shell's).
/// Checked against: tests/unit/planner/frameworks/syntax/quoting_test.cpp; every target with hostile names in
/// tests/integration/hostile_names_test.cpp.

#include <string>
#include <string_view>

#include "core/io/json.h"

namespace plumbline {

/// A literal of Python: True, None, 4, "text", [1, 2]; objects are dictionaries. Lists of lists have a line for each,
/// `indent` deep.
[[nodiscard]] std::string python_literal(const Json& value, std::size_t indent = 0);
/// A key of a TOML table: bare where it may be.
[[nodiscard]] std::string toml_key(const std::string& key);
/// A value of TOML on one line; tables are inline, null members of them are left out.
[[nodiscard]] std::string toml_value(const Json& value);
/// A scalar of YAML as PyYAML reads it back: plain where that is certain, else quoted. An empty list or map is one too.
[[nodiscard]] std::string yaml_scalar(const Json& value);
/// The same of a text, in quotes always.
[[nodiscard]] std::string yaml_quoted(const std::string& text);
/// One word of POSIX shells: plain where that is certain, else in single quotes. Also the value of an #SBATCH option,
/// where it holds no line break.
[[nodiscard]] std::string shell_quoted(std::string_view word);
/// What stands behind '#' (Python, TOML, YAML, bash, Slurm): one line without control characters.
[[nodiscard]] std::string comment_text(std::string_view text);

}  // namespace plumbline
