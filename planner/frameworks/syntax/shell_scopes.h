#pragma once
/// \file shell_scopes.h: what subshells, branches, lists and the words ahead of a command do to a script's variables.
///
/// Model: marks of shell_variables.h, closed by what each scope means in bash: taken back (subshell, pipeline,
/// background), kept (group), or unknown from then on (branch, loop, behind && and ||). Checked against:
/// tests/integration/shell_against_bash_test.cpp.

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "planner/frameworks/syntax/shell_word_reader.h"

namespace plumbline {

/// What a subshell, a branch or a list does to variables, from its begin to its end.
class ShellScopes {
 public:
  enum class Kind : std::uint8_t { subshell, branch, group, list };

  explicit ShellScopes(ShellVariables& variables) : variables_(variables) {}

  void open(Kind kind, bool is_in_pipeline) { open_.push_back({kind, variables_.open(), is_in_pipeline}); }
  void close_all() {
    while (!open_.empty()) close();
  }
  void close_list() {
    if (is_in(Kind::list)) close();
  }
  void close_of(Kind kind) {
    close_list();
    if (is_in(kind)) close();
  }
  void begin_next_branch() {
    close_list();
    if (!is_in(Kind::branch)) return;
    close();
    open(Kind::branch, false);
  }
  /// Of "}": whether what it did stays is known once it is known what stands behind it.
  void close_group() {
    close_list();
    if (!is_in(Kind::group)) return;
    end_group(false);  // "} }"
    if (open_.back().is_in_pipeline) return close();
    ended_group_ = open_.back().mark;
    open_.pop_back();
  }
  void end_group(bool is_in_subshell) {
    if (ended_group_) is_in_subshell ? variables_.roll_back(*ended_group_) : variables_.keep(*ended_group_);
    ended_group_.reset();
  }
  [[nodiscard]] bool is_in(Kind kind) const { return !open_.empty() && open_.back().kind == kind; }
  [[nodiscard]] bool is_conditional() const {
    return std::any_of(open_.begin(), open_.end(),
                       [](const Scope& scope) { return scope.kind == Kind::branch || scope.kind == Kind::list; });
  }

 private:
  struct Scope {
    Kind kind;
    ShellVariables::Mark mark;
    bool is_in_pipeline;
  };
  void close() {
    const Scope scope = open_.back();
    open_.pop_back();
    if (scope.kind == Kind::subshell || (scope.kind == Kind::group && scope.is_in_pipeline))
      variables_.roll_back(scope.mark);
    else if (scope.kind == Kind::group)
      variables_.keep(scope.mark);
    else
      variables_.forget_since(scope.mark);
  }

  ShellVariables& variables_;
  std::vector<Scope> open_;
  std::optional<ShellVariables::Mark> ended_group_;
};

struct ShellAssignment {
  std::string name;
  std::vector<std::string> values;
  bool is_list = false;
  bool appends = false;
};

/// Assignments that stand ahead of a command, or behind export and the like.
class ShellAssignments {
 public:
  explicit ShellAssignments(ShellContext& context) : context_(context) {}

  /// The last one is not applied before it is known whether a command follows, which it would be for alone.
  void take(ShellAssignment one) {
    apply_pending();
    environment_[one.name] = one.values.empty() ? "" : one.values.front();
    pending_ = std::move(one);
  }
  /// Of export and the like all words are read before the first one is assigned.
  void declare(ShellAssignment one) { declared_.push_back(std::move(one)); }
  void apply_pending() {
    if (!pending_) return;
    if (!several_) several_ = context_.script.variables.open();
    apply(*pending_);
    pending_.reset();
  }
  void end(bool are_dropped) {
    ShellVariables& variables = context_.script.variables;
    if (pending_ && !are_dropped) apply(*pending_);
    pending_.reset();
    for (const ShellAssignment& one : declared_)
      if (!are_dropped) apply(one);
    declared_.clear();
    if (several_) are_dropped ? variables.roll_back(*several_) : variables.keep(*several_);
    several_.reset();
  }
  [[nodiscard]] bool empty() const { return !pending_ && !several_ && declared_.empty(); }
  /// What they are to the command behind them.
  [[nodiscard]] std::map<std::string, std::string, std::less<>> take_environment() {
    return std::exchange(environment_, {});
  }

 private:
  void apply(const ShellAssignment& one) {
    ShellVariables& variables = context_.script.variables;
    if (context_.references.find(one.name) != context_.references.end()) return variables.forget_all();
    if (context_.integers.find(one.name) != context_.integers.end()) return apply_integer(one);
    if (one.appends)
      variables.append(one.name, one.values, one.is_list);
    else
      variables.assign(one.name, one.values);
  }
  /// Of declare -i: an expression, to which += adds.
  void apply_integer(const ShellAssignment& one) {
    ShellVariables& variables = context_.script.variables;
    const std::vector<std::string>* const own = variables.find(one.name);
    const std::string before = own == nullptr || own->empty() || own->front().empty() ? "0" : own->front();
    const std::string value = one.values.empty() || one.values.front().empty() ? "0" : one.values.front();
    const auto sum =
        one.is_list ? std::nullopt : arithmetic(one.appends ? "(" + before + ")+(" + value + ")" : value, variables);
    if (sum)
      variables.assign(one.name, {std::to_string(*sum)});
    else
      variables.forget(one.name);
  }

  ShellContext& context_;
  std::map<std::string, std::string, std::less<>> environment_;
  std::optional<ShellAssignment> pending_;
  std::vector<ShellAssignment> declared_;
  std::optional<ShellVariables::Mark> several_;
};

}  // namespace plumbline
