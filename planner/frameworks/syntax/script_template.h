#pragma once
/// \file script_template.h: Python files in the folders `templates` of frameworks, of which exported scripts are made.
///
/// A template is valid Python with these places:
///
///     PLUMBLINE_NAME                a text takes the place of the name
///     code  # plumbline: NAME       lines take the place of this one, as deep as it is; Python reads the code
///     code  # plumbline: if NAME    a line that some plans have; `if not NAME`: that the others have
///     # plumbline: if NAME          lines that some plans have, and
///     # plumbline: else             those that the others have (there may be none),
///     # plumbline: end              up to here; blocks may stand in blocks
///     ## text                       a line for readers of the template, which is not exported
///
/// Texts of unknown origin are quoted before they are put in (quoting.h).
/// Checked against: tests/unit/planner/frameworks/syntax/script_template_test.cpp; that each is Python in
/// tests/architecture/test_script_templates.py.

#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace plumbline {

/// What is put in for a name, or whether the lines behind an `if` are kept.
struct ScriptFilling {
  std::string_view name;
  std::variant<std::string, bool> value;
};

/// The text of a template as it was compiled in: "pytorch/templates/train" of planner/frameworks.
[[nodiscard]] std::string_view script_template(std::string_view path);
/// A template with each place filled in one pass: nothing that is put in is looked at again. Each place has a filling
/// and each filling a place.
[[nodiscard]] std::string filled_script(std::string_view script, const std::vector<ScriptFilling>& fillings);

}  // namespace plumbline
