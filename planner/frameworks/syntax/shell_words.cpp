#include "planner/frameworks/syntax/shell_words.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "planner/frameworks/syntax/shell_word_reader.h"

namespace plumbline {
namespace {

/// Words before a command, or in place of one, after which another may begin.
constexpr std::array<std::string_view, 18> keywords{"if",     "then",  "else",  "elif",    "fi",       "for",
                                                    "do",     "done",  "while", "until",   "case",     "esac",
                                                    "export", "local", "exec",  "declare", "readonly", "{"};

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

class Reader {
 public:
  Reader(std::string_view text, ShellContext& context) : cursor_{text}, context_(context) {}

  void read_commands() {
    while (!cursor_.at_end()) step();
    end_command();
  }

 private:
  std::vector<std::string> next_words(Splits splits) { return read_shell_words(cursor_, context_, splits); }

  void step() {
    const char c = cursor_.here();
    if (is_blank(c)) {
      ++cursor_.at;
    } else if (cursor_.skip_continuation()) {
    } else if (c == '#') {
      read_comment();
    } else if (c == '<' || c == '>' || (c == '&' && cursor_.ahead(1) == '>')) {
      skip_redirection();
    } else if (ends_shell_word(c)) {
      end_command();
      ++cursor_.at;
      if (c == '\n') skip_here_document();
    } else {
      read_command_word();
    }
  }

  /// No program begins with '-': such a line goes on with the one before it.
  void end_command() {
    std::vector<ShellCommand>& all = context_.script.commands;
    if (!command_.empty() && has_commands_ && command_.front().starts_with('-'))
      std::move(command_.begin(), command_.end(), std::back_inserter(all.back()));
    else if (!command_.empty())
      all.push_back(std::move(command_)), has_commands_ = true;
    command_.clear();
    after_keyword_ = false;
  }

  void read_comment() {
    const std::size_t end = std::min(cursor_.text.find('\n', cursor_.at), cursor_.text.size());
    const std::string_view line = cursor_.text.substr(cursor_.at, end - cursor_.at);
    cursor_.at = end;
    constexpr std::string_view batch = "#SBATCH ";
    if (!line.starts_with(batch)) return;
    const std::size_t remark = line.find(" #", batch.size());
    for (std::string& word : split_words(line.substr(batch.size(), remark - batch.size())))
      context_.script.batch_words.push_back(std::move(word));
  }

  void skip_redirection() {
    const bool is_document = cursor_.here() == '<' && cursor_.ahead(1) == '<' && cursor_.ahead(2) != '<';
    while (!cursor_.at_end() &&
           (cursor_.here() == '<' || cursor_.here() == '>' || cursor_.here() == '&' || cursor_.here() == '|'))
      ++cursor_.at;
    if (is_document && cursor_.ahead(0) == '-') ++cursor_.at;
    while (!cursor_.at_end() && is_blank(cursor_.here())) ++cursor_.at;
    const std::string target = cursor_.at_end() ? "" : joined_words(next_words(Splits::no));
    if (is_document) document_end_ = target;
  }

  void skip_here_document() {
    if (document_end_.empty()) return;
    while (!cursor_.at_end()) {
      const std::size_t end = std::min(cursor_.text.find('\n', cursor_.at), cursor_.text.size());
      std::string_view line = cursor_.text.substr(cursor_.at, end - cursor_.at);
      cursor_.at = std::min(end + 1, cursor_.text.size());
      while (!line.empty() && is_blank(line.front())) line.remove_prefix(1);
      while (!line.empty() && is_blank(line.back())) line.remove_suffix(1);
      if (line == document_end_) break;
    }
    document_end_.clear();
  }

  void read_command_word() {
    if (command_.empty() && read_assignment()) return;
    const std::size_t first = cursor_.at;
    std::vector<std::string> words = next_words(Splits::yes);
    if (cursor_.at == first) ++cursor_.at;  // nothing that a word begins with
    const bool is_number = words.size() == 1 && words.front().find_first_not_of("0123456789") == std::string::npos;
    if (is_number && !cursor_.at_end() && (cursor_.here() == '<' || cursor_.here() == '>')) return;  // 2>file
    for (std::string& word : words) add_word(std::move(word));
  }

  void add_word(std::string word) {
    if (command_.empty()) {
      const bool is_keyword = std::find(keywords.begin(), keywords.end(), word) != keywords.end();
      if (is_keyword || (after_keyword_ && word.starts_with('-'))) {
        after_keyword_ = true;
        return;
      }
    }
    command_.push_back(std::move(word));
  }

  /// NAME=value, NAME+=value, NAME=(words).
  bool read_assignment() {
    const std::string name(leading_name(cursor_.text.substr(cursor_.at)));
    const bool appends = cursor_.ahead(name.size()) == '+';
    if (name.empty() || cursor_.ahead(name.size() + (appends ? 1 : 0)) != '=') return false;
    cursor_.at += name.size() + (appends ? 2 : 1);
    const bool is_list = !cursor_.at_end() && cursor_.here() == '(';
    std::vector<std::string> values;
    if (is_list)
      values = read_list();
    else if (!cursor_.at_end())
      values = {joined_words(next_words(Splits::no))};
    if (values.empty() && !is_list) values = {""};
    if (appends)
      context_.script.variables.append(name, values, is_list);
    else
      context_.script.variables.assign(name, std::move(values));
    return true;
  }

  std::vector<std::string> read_list() {
    const std::size_t first = cursor_.at++;
    std::vector<std::string> values;
    while (!cursor_.at_end() && cursor_.here() != ')') {
      if (is_shell_space(cursor_.here())) {
        ++cursor_.at;
      } else if (cursor_.skip_continuation()) {
      } else if (cursor_.here() == '#') {
        cursor_.at = std::min(cursor_.text.find('\n', cursor_.at), cursor_.text.size());
      } else if (ends_shell_word(cursor_.here())) {
        ++cursor_.at;
      } else {
        for (std::string& word : next_words(Splits::yes)) values.push_back(std::move(word));
      }
    }
    if (cursor_.at_end()) cursor_.refuse(context_.name, first, "the list is not closed by ')'");
    ++cursor_.at;
    return values;
  }

  ShellCursor cursor_;
  ShellContext& context_;
  ShellCommand command_;
  bool has_commands_ = false;
  bool after_keyword_ = false;
  std::string document_end_;
};

bool holds_flags(const std::string& word) {
  return word.find_first_of(" \n\t") != std::string::npos && word.find("--") != std::string::npos;
}

/// Commands inside quoted words: bash -c "torchrun ...".
void read_nested(ShellContext& context, int depth) {
  if (depth > 2) return;
  std::vector<std::string> texts;
  for (const ShellCommand& command : context.script.commands)
    for (const std::string& word : command)
      if (holds_flags(word)) texts.push_back(word);
  if (texts.empty()) return;
  ShellContext inner{context.name, {}, context.expanded_bytes};
  inner.script.variables = context.script.variables;
  for (const std::string& text : texts) {
    inner.spend(text.size());
    Reader(text, inner).read_commands();
  }
  read_nested(inner, depth + 1);
  std::move(inner.script.commands.begin(), inner.script.commands.end(), std::back_inserter(context.script.commands));
}

}  // namespace

ShellScript read_shell(std::string_view text, std::string_view name) {
  ShellContext context{std::string(name), {}, 0};
  Reader(text, context).read_commands();
  read_nested(context, 0);
  return std::move(context.script);
}

}  // namespace plumbline
