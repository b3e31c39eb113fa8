#pragma once
/// \file shell_variables.h: variables that a shell script assigns, and its integer arithmetic.
///
/// Model: a variable has values (one, or those of a list), is not assigned, or is unknown: its value is then its own
/// name behind '$', which every reader of values takes for a substitution that the text does not hold. What happens in
/// a subshell, a branch or ahead of a command is remembered from its mark on, and taken back or forgotten at its end.
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
  /// It has a value that nobody here knows.
  void forget(const std::string& name);
  void forget_all();
  void erase(const std::string& name);

  /// Changes are remembered until each mark is closed, the last one first, by one of the three below.
  using Mark = std::size_t;
  [[nodiscard]] Mark open();
  void keep(Mark mark);
  void roll_back(Mark mark);
  /// What was changed since is unknown, but for lists of flags to which only more was added.
  void forget_since(Mark mark);
  /// Gives one variable the value back that it had at the mark, which stays open.
  void restore(const std::string& name, Mark mark);
  /// Of all old values that were remembered so far: a script could make them grow without end.
  [[nodiscard]] std::size_t remembered_bytes() const { return remembered_bytes_; }
  /// Null: not assigned in the text.
  [[nodiscard]] const std::vector<std::string>* find(std::string_view name) const;
  /// All values of all variables, in the order of names.
  [[nodiscard]] std::vector<std::string> all() const;

 private:
  using Values = std::vector<std::string>;
  struct Change {
    std::string name;
    std::optional<Values> before;  ///< none: it was not assigned
    bool adds_flags = false;
  };
  void remember(const std::string& name);
  void set(const std::string& name, const std::optional<Values>& values);
  void close();

  std::map<std::string, Values, std::less<>> values_;
  std::vector<Change> changes_;
  std::size_t open_marks_ = 0;
  std::size_t remembered_bytes_ = 0;
};

/// Letters, digits and '_' at the front of a text, not a digit first; empty: none.
[[nodiscard]] std::string_view leading_name(std::string_view text);

/// + - * / % and parentheses over integers and variables; empty where the shell would need more than that (a number
/// with a leading 0 is octal), or refuses.
[[nodiscard]] std::optional<std::int64_t> arithmetic(std::string_view expression, const ShellVariables& variables);

}  // namespace plumbline
