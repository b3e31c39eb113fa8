#include "planner/frameworks/syntax/shell_builtins.h"

#include <algorithm>
#include <array>

#include "planner/frameworks/syntax/shell_word_reader.h"

namespace plumbline {
namespace {

constexpr int most_arguments = 9;
constexpr std::array<std::string_view, 5> declarations{"export", "local", "declare", "readonly", "typeset"};

}  // namespace

bool is_declaration(std::string_view word) {
  return std::find(declarations.begin(), declarations.end(), word) != declarations.end();
}

void forget_named(std::string_view word, ShellVariables& variables) {
  if (const std::string_view name = leading_name(word); !name.empty()) variables.forget(std::string(name));
}

void run_builtin(const std::string& name, const std::vector<std::string>& words, ShellVariables& variables) {
  if (name == "read" || name == "mapfile" || name == "readarray" || name == "getopts" || name == "wait")
    for (const std::string& word : words) forget_named(word, variables);
  if (name == "unset")
    for (const std::string& word : words)
      if (leading_name(word) == word) variables.erase(word);
  if (name == "printf" && words.size() > 1 && words.front() == "-v") forget_named(words[1], variables);
  if (name == "let")
    for (const std::string& word : words) forget_assigned(word, variables);
  if (is_declaration(name))
    for (const std::string& word : words)
      if (word.find('=') != std::string::npos) forget_named(word, variables);
  if (name == "shift" || name == "set")
    for (int i = 1; i <= most_arguments; ++i)
      if (variables.find(std::to_string(i)) != nullptr) variables.forget(std::to_string(i));
}

void pass_arguments(const std::vector<std::string>& command, ShellVariables& variables) {
  for (int i = 1; i <= most_arguments; ++i) {
    const auto place = static_cast<std::size_t>(i);
    if (place < command.size() && command[place] != "$@")
      variables.assign(std::to_string(i), {command[place]});
    else
      variables.erase(std::to_string(i));
  }
}

void restore_arguments(ShellVariables::Mark mark, ShellVariables& variables) {
  for (int i = 1; i <= most_arguments; ++i) variables.restore(std::to_string(i), mark);
}

}  // namespace plumbline
