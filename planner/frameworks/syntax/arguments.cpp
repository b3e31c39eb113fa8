#include "planner/frameworks/syntax/arguments.h"

#include <algorithm>
#include <charconv>
#include <map>

#include "core/base/errors.h"
#include "planner/frameworks/syntax/quoting.h"
#include "planner/frameworks/syntax/shell_words.h"

namespace plumbline {
namespace {

constexpr std::size_t most_bytes = std::size_t{1} << 20;

/// "--name" or "-n"; "-1" and "-.5" are values.
bool is_flag(std::string_view word) {
  if (word.size() < 2 || word[0] != '-') return false;
  const char second = word[1] == '-' && word.size() > 2 ? word[2] : word[1];
  return (second >= 'a' && second <= 'z') || (second >= 'A' && second <= 'Z');
}

using Words = std::vector<std::string>;

std::ptrdiff_t flags_of(const Words& words) {
  return std::count_if(words.begin(), words.end(), [](const std::string& word) { return is_flag(word); });
}

/// The last of those with the most flags; null: there is no command.
const ShellCommand* longest(const std::vector<ShellCommand>& commands) {
  const ShellCommand* best = nullptr;
  std::ptrdiff_t most = 0;
  for (const ShellCommand& command : commands)
    if (const std::ptrdiff_t flags = flags_of(command.words); flags >= most) best = &command, most = flags;
  return best;
}

/// Of a file of variables that another script reads.
Words words_of(const ShellVariables& variables, std::string_view name) {
  Words words;
  for (const std::string& value : variables.all()) {
    if (value.find_first_of(" \n\t") == std::string::npos) {
      words.push_back(value);
      continue;
    }
    const ShellScript inner = read_shell(value, name);
    for (const ShellCommand& command : inner.commands)
      words.insert(words.end(), command.words.begin(), command.words.end());
  }
  return words;
}

template <class Number>
bool is_number(std::string_view text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

Json value_of(std::string_view text) {
  std::int64_t integer = 0;
  if (is_number(text, integer)) return integer;
  double number = 0;
  if (!text.empty() && text.find_first_not_of("0123456789+-.eE") == std::string_view::npos && is_number(text, number))
    return number;
  if (text == "true" || text == "True") return true;
  if (text == "false" || text == "False") return false;
  return text;
}

bool is_program(std::string_view word) { return word.ends_with(".py"); }

/// Flags in the order of the text, found by name.
class FlagTree {
 public:
  void set(const std::string& key, Json value) {
    const auto [at, is_new] = places_.try_emplace(key, tree_.size());
    if (is_new)
      tree_.emplace_back(key, std::move(value));
    else
      tree_[at->second].second = std::move(value);
  }
  [[nodiscard]] bool empty() const { return tree_.empty(); }
  [[nodiscard]] const Json* find(const std::string& key) const {
    const auto found = places_.find(key);
    return found == places_.end() ? nullptr : &tree_[found->second].second;
  }
  [[nodiscard]] Json take() { return std::move(tree_); }

 private:
  Json::Object tree_;
  std::map<std::string, std::size_t> places_;
};

/// Substitutions behind a value are further arguments that nobody knows.
Json value_of(Json::Array values) {
  while (values.size() > 1 && is_unresolved(values.back())) values.pop_back();
  if (values.empty()) return true;
  return values.size() == 1 ? std::move(values.front()) : Json(std::move(values));
}

void add_flags(const std::vector<std::string>& words, const std::string& before, FlagTree& tree) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!is_flag(words[i])) continue;
    const std::size_t equals = words[i].find('=');
    const std::string key = before + words[i].substr(0, equals);
    Json::Array values;
    if (equals != std::string::npos) values.push_back(value_of(std::string_view(words[i]).substr(equals + 1)));
    for (; equals == std::string::npos && i + 1 < words.size() && !is_flag(words[i + 1]); ++i) {
      if (is_program(words[i + 1])) break;
      values.push_back(value_of(std::string_view(words[i + 1])));
    }
    tree.set(key, value_of(std::move(values)));
  }
}

std::string text_of(const Json& value) {
  if (const std::string* const text = value.if_string()) return *text;
  std::string text = to_json_text(value, -1);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

std::string program_of(const Words& words) {
  const auto found = std::find_if(words.begin(), words.end(), [](const std::string& word) { return is_program(word); });
  return found == words.end() ? "" : *found;
}

/// Of a flag to which another branch of the script gives another value, nobody knows which one it is.
void forget_other_branches(const std::vector<ShellCommand>& commands, const ShellCommand& read, FlagTree& tree) {
  const std::string program = program_of(read.words);
  if (program.empty()) return;
  for (const ShellCommand& other : commands) {
    if (&other == &read || !(other.is_conditional || read.is_conditional) || program_of(other.words) != program)
      continue;
    FlagTree branch;
    add_flags(other.words, "", branch);
    const Json flags = branch.take();
    for (const auto& [flag, value] : *flags.if_object()) {
      const Json* const own = tree.find(flag);
      if (own != nullptr && !is_unresolved(*own) && text_of(*own) != text_of(value))
        tree.set(flag, Json("${" + text_of(*own).substr(0, 40) + " or, in another branch, " +
                            text_of(value).substr(0, 40) + "}"));
    }
  }
}

}  // namespace

Json read_arguments(std::string_view text, std::string_view name) {
  if (text.size() > most_bytes)
    throw InputError(
        {std::string(name), std::to_string(text.size()) + " bytes", "a launch script of at most 1 MiB", ""});
  const ShellScript script = read_shell(text, name);
  FlagTree tree;
  if (const ShellCommand* const command = longest(script.commands)) {
    add_flags(command->words, "", tree);
    forget_other_branches(script.commands, *command, tree);
  }
  if (tree.empty()) add_flags(words_of(script.variables, name), "", tree);
  if (tree.empty())
    throw InputError(
        {std::string(name), "no flag is found in it", "a command such as 'torchrun ... --flag value'", ""});
  add_flags(script.batch_words, "#SBATCH ", tree);
  return tree.take();
}

bool is_unresolved(const Json& value) {
  const std::string* const text = value.if_string();
  return text != nullptr && (text->find('$') != std::string::npos || text->starts_with('`') || text->starts_with('<'));
}

std::vector<std::string> argument_words(const Json& tree) {
  std::vector<std::string> words;
  for (const auto& [key, value] : *tree.if_object()) {
    words.push_back(key);
    if (const Json::Array* const array = value.if_array())
      for (const Json& one : *array) words.push_back(text_of(one));
    else if (value.if_bool() == nullptr || !*value.if_bool())
      words.push_back(text_of(value));
  }
  return words;
}

std::string arguments_text(const Json& tree) {
  std::string text;
  for (const std::string& word : argument_words(tree))
    text += (text.empty() ? "" : is_flag(word) ? "\n" : " ") + shell_quoted(word);
  return text + "\n";
}

}  // namespace plumbline
