#pragma once
/// \file shell_variables.h: variables that a shell script assigns, and its integer arithmetic.
///
/// Checked against: tests/unit/planner/frameworks/syntax/arguments_test.cpp.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace plumbline {

class ShellVariables {
 public:
  void assign(const std::string& name, std::vector<std::string> values);
  /// NAME+=(more), NAME+=more.
  void append(const std::string& name, const std::vector<std::string>& values, bool is_list);
  /// Null: not assigned in the text.
  [[nodiscard]] const std::vector<std::string>* find(std::string_view name) const;
  /// All values of all variables, in the order of names.
  [[nodiscard]] std::vector<std::string> all() const;

 private:
  std::map<std::string, std::vector<std::string>, std::less<>> values_;
};

/// Letters, digits and '_' at the front of a text, not a digit first; empty: none.
[[nodiscard]] std::string_view leading_name(std::string_view text);

/// + - * / % and parentheses over integers and variables; empty where the shell would need more than that, or refuses.
[[nodiscard]] std::optional<std::int64_t> arithmetic(std::string_view expression, const ShellVariables& variables);

}  // namespace plumbline
