#include "planner/frameworks/syntax/shell_words.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "core/base/errors.h"

namespace plumbline {
namespace {

constexpr std::size_t most_expanded_bytes = std::size_t{16} << 20;
constexpr int deepest = 16;

/// Words before a command, or in place of one, after which another may begin.
constexpr std::array<std::string_view, 18> keywords{"if",     "then",  "else",  "elif",    "fi",       "for",
                                                    "do",     "done",  "while", "until",   "case",     "esac",
                                                    "export", "local", "exec",  "declare", "readonly", "{"};

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
bool is_space(char c) { return is_blank(c) || c == '\n'; }
bool ends_word(char c) { return is_space(c) || std::string_view(";&|()<>").find(c) != std::string_view::npos; }

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

/// Shared by a text and the texts inside it.
struct Context {
  std::string name;
  ShellScript script;
  std::size_t expanded_bytes = 0;

  void spend(std::size_t bytes) {
    expanded_bytes += bytes + 1;
    if (expanded_bytes > most_expanded_bytes)
      throw InputError({name, "its variables expand to more than 16 MiB", "a launch script", ""});
  }
};

enum class Splits : std::uint8_t { no, yes };

/// A word, or several where a variable holds several, as it grows.
class Growing {
 public:
  void add(std::string_view text) {
    current_ += text;
    started_ = true;
  }
  void add(char c) {
    current_ += c;
    started_ = true;
  }
  void end_word() {
    if (started_) words_.push_back(std::move(current_));
    current_.clear();
    started_ = false;
  }
  /// As an unquoted variable is: spaces end words.
  void add_split(std::string_view text) {
    for (const char c : text) is_space(c) ? end_word() : add(c);
  }
  [[nodiscard]] std::vector<std::string> take() {
    end_word();
    return std::move(words_);
  }
  [[nodiscard]] const std::string& current() const { return current_; }

 private:
  std::vector<std::string> words_;
  std::string current_;
  bool started_ = false;
};

class Reader {
 public:
  Reader(std::string_view text, Context& context, int depth) : text_(text), context_(context), depth_(depth) {}

  void read_commands() {
    while (!at_end()) step();
    end_command();
  }
  /// The text as inside double quotes.
  std::string expanded() {
    Growing word;
    while (!at_end()) read_in_quotes(word);
    return joined(word.take());
  }

 private:
  [[nodiscard]] bool at_end() const { return at_ >= text_.size(); }
  [[nodiscard]] char here() const { return text_[at_]; }
  [[nodiscard]] char ahead(std::size_t by) const { return at_ + by < text_.size() ? text_[at_ + by] : '\0'; }

  [[noreturn]] void refuse(std::size_t from, std::string_view what) const {
    const auto line = 1 + std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(from), '\n');
    throw InputError({context_.name + ", line " + std::to_string(line), std::string(what), "a shell script", ""});
  }

  /// Also before "\r\n".
  bool skip_continuation() {
    if (here() != '\\') return false;
    const std::size_t size = ahead(1) == '\n' ? 2 : ahead(1) == '\r' && ahead(2) == '\n' ? 3 : 0;
    at_ += size;
    return size > 0;
  }

  void step() {
    const char c = here();
    if (is_blank(c)) {
      ++at_;
    } else if (skip_continuation()) {
    } else if (c == '#') {
      read_comment();
    } else if (c == '<' || c == '>' || (c == '&' && ahead(1) == '>')) {
      skip_redirection();
    } else if (ends_word(c)) {
      end_command();
      ++at_;
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
    const std::size_t end = std::min(text_.find('\n', at_), text_.size());
    const std::string_view line = text_.substr(at_, end - at_);
    at_ = end;
    constexpr std::string_view batch = "#SBATCH ";
    if (!line.starts_with(batch)) return;
    Growing words;
    words.add_split(line.substr(batch.size(), line.find(" #", batch.size()) - batch.size()));
    for (std::string& word : words.take()) context_.script.batch_words.push_back(std::move(word));
  }

  void skip_redirection() {
    const bool is_document = here() == '<' && ahead(1) == '<' && ahead(2) != '<';
    while (!at_end() && (here() == '<' || here() == '>' || here() == '&' || here() == '|')) ++at_;
    if (is_document && ahead(0) == '-') ++at_;
    while (!at_end() && is_blank(here())) ++at_;
    const std::string target = at_end() ? "" : joined(read_words(Splits::no));
    if (is_document) document_end_ = target;
  }

  void skip_here_document() {
    if (document_end_.empty()) return;
    while (!at_end()) {
      const std::size_t end = std::min(text_.find('\n', at_), text_.size());
      std::string_view line = text_.substr(at_, end - at_);
      at_ = std::min(end + 1, text_.size());
      while (!line.empty() && is_blank(line.front())) line.remove_prefix(1);
      while (!line.empty() && is_blank(line.back())) line.remove_suffix(1);
      if (line == document_end_) break;
    }
    document_end_.clear();
  }

  void read_command_word() {
    if (command_.empty() && read_assignment()) return;
    const std::size_t first = at_;
    std::vector<std::string> words = read_words(Splits::yes);
    if (at_ == first) ++at_;  // nothing that a word begins with
    const bool is_number = words.size() == 1 && words.front().find_first_not_of("0123456789") == std::string::npos;
    if (is_number && !at_end() && (here() == '<' || here() == '>')) return;  // 2>file
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
    const std::string name(leading_name(text_.substr(at_)));
    const bool appends = ahead(name.size()) == '+';
    if (name.empty() || ahead(name.size() + (appends ? 1 : 0)) != '=') return false;
    at_ += name.size() + (appends ? 2 : 1);
    const bool is_list = !at_end() && here() == '(';
    std::vector<std::string> values;
    if (is_list)
      values = read_list();
    else if (!at_end())
      values = {joined(read_words(Splits::no))};
    if (values.empty() && !is_list) values = {""};
    if (appends)
      context_.script.variables.append(name, values, is_list);
    else
      context_.script.variables.assign(name, std::move(values));
    return true;
  }

  std::vector<std::string> read_list() {
    const std::size_t first = at_++;
    std::vector<std::string> values;
    while (!at_end() && here() != ')') {
      if (is_space(here())) {
        ++at_;
      } else if (skip_continuation()) {
      } else if (here() == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (ends_word(here())) {
        ++at_;
      } else {
        for (std::string& word : read_words(Splits::yes)) values.push_back(std::move(word));
      }
    }
    if (at_end()) refuse(first, "the list is not closed by ')'");
    ++at_;
    return values;
  }

  std::vector<std::string> read_words(Splits splits) {
    Growing word;
    while (!at_end() && !ends_word(here())) read_part(word, splits);
    return word.take();
  }

  void read_part(Growing& word, Splits splits) {
    const char c = here();
    if (skip_continuation()) return;
    if (c == '\'') return read_single_quotes(word);
    if (c == '"') return read_double_quotes(word);
    if (c == '$') return read_dollar(word, splits, false);
    if (c == '`') return read_backticks(word);
    if (c == '\\' && at_ + 1 < text_.size()) ++at_;
    word.add(here());
    ++at_;
  }

  void read_single_quotes(Growing& word) {
    const std::size_t end = text_.find('\'', at_ + 1);
    if (end == std::string_view::npos) refuse(at_, "the quote is not closed");
    word.add(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
  }

  void read_double_quotes(Growing& word) {
    const std::size_t first = at_++;
    word.add("");
    while (!at_end() && here() != '"') read_in_quotes(word);
    if (at_end()) refuse(first, "the quote is not closed");
    ++at_;
  }

  void read_in_quotes(Growing& word) {
    const char c = here();
    if (skip_continuation()) return;
    if (c == '$') return read_dollar(word, Splits::no, true);
    if (c == '`') return read_backticks(word);
    if (c == '\\' && std::string_view("$`\"\\").find(ahead(1)) != std::string_view::npos && at_ + 1 < text_.size())
      ++at_;
    word.add(here());
    ++at_;
  }

  void read_backticks(Growing& word) {
    const std::size_t end = text_.find('`', at_ + 1);
    if (end == std::string_view::npos) refuse(at_, "the '`' is not closed");
    word.add(text_.substr(at_, end + 1 - at_));
    at_ = end + 1;
  }

  void read_dollar(Growing& word, Splits splits, bool is_quoted) {
    if (ahead(1) == '(' && ahead(2) == '(') return read_arithmetic(word);
    if (ahead(1) == '(') {
      word.add(take_until_closed('(', ')'));
    } else if (ahead(1) == '{') {
      const std::string_view whole = take_until_closed('{', '}');
      add_variable(word, whole, whole.substr(2, whole.size() - 3), splits, is_quoted);
    } else {
      const std::string_view name = leading_name(text_.substr(at_ + 1));
      const std::string_view whole = text_.substr(at_, 1 + name.size());
      at_ += whole.size();
      if (name.empty())
        word.add(whole);
      else
        add_variable(word, whole, name, splits, is_quoted);
    }
  }

  /// "$(...)" or "${...}" as a whole, with what is nested in it.
  std::string_view take_until_closed(char opens, char closes) {
    const std::size_t first = at_;
    int open = 0;
    for (++at_; !at_end(); ++at_) {
      if (here() == '\\') {
        ++at_;
      } else if (here() == opens) {
        ++open;
      } else if (here() == closes && --open == 0) {
        ++at_;
        return text_.substr(first, at_ - first);
      }
    }
    at_ = text_.size();
    refuse(first, std::string("the bracket is not closed by '") + closes + "'");
  }

  void read_arithmetic(Growing& word) {
    const std::string_view whole = take_until_closed('(', ')');
    const bool is_complete = whole.size() >= 5 && whole.substr(whole.size() - 2) == "))";
    const auto value =
        is_complete ? arithmetic(whole.substr(3, whole.size() - 5), context_.script.variables) : std::nullopt;
    word.add(value ? std::to_string(*value) : std::string(whole));
  }

  /// `inside`: of the braces: a name and what is to be done with its value.
  void add_variable(Growing& word, std::string_view whole, std::string_view inside, Splits splits, bool is_quoted) {
    const std::string_view name = leading_name(inside);
    const std::string_view rest = inside.substr(name.size());
    const std::vector<std::string>* const values = context_.script.variables.find(name);
    if (values != nullptr && (rest == "[@]" || rest == "[*]")) return add_list(word, *values, is_quoted);
    const std::size_t start = rest.starts_with(":-") || rest.starts_with(":=") ? 2
                              : rest.starts_with('-') || rest.starts_with('=') ? 1
                                                                               : 0;
    std::string value;
    if (values != nullptr && !values->empty() && (rest.empty() || (start > 0 && !values->front().empty())))
      value = values->front();
    else if (start > 0 && depth_ < deepest)
      value = Reader(rest.substr(start), context_, depth_ + 1).expanded();
    else if (values == nullptr || !rest.empty())
      value = std::string(whole);
    context_.spend(value.size());
    if (splits == Splits::yes && value != whole)
      word.add_split(value);
    else
      word.add(value);
  }

  void add_list(Growing& word, const std::vector<std::string>& values, bool is_quoted) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      context_.spend(values[i].size());
      if (i > 0) word.end_word();
      if (is_quoted)
        word.add(values[i]);
      else
        word.add_split(values[i]);
    }
  }

  std::string_view text_;
  Context& context_;
  int depth_;
  std::size_t at_ = 0;
  ShellCommand command_;
  bool has_commands_ = false;
  bool after_keyword_ = false;
  std::string document_end_;
};

bool holds_flags(const std::string& word) {
  return word.find_first_of(" \n\t") != std::string::npos && word.find("--") != std::string::npos;
}

/// Commands inside quoted words: bash -c "torchrun ...".
void read_nested(Context& context, int depth) {
  if (depth > 2) return;
  std::vector<std::string> texts;
  for (const ShellCommand& command : context.script.commands)
    for (const std::string& word : command)
      if (holds_flags(word)) texts.push_back(word);
  if (texts.empty()) return;
  Context inner{context.name, {}, context.expanded_bytes};
  inner.script.variables = context.script.variables;
  for (const std::string& text : texts) {
    inner.spend(text.size());
    Reader(text, inner, depth).read_commands();
  }
  read_nested(inner, depth + 1);
  std::move(inner.script.commands.begin(), inner.script.commands.end(), std::back_inserter(context.script.commands));
}

}  // namespace

ShellScript read_shell(std::string_view text, std::string_view name) {
  Context context{std::string(name), {}, 0};
  Reader(text, context, 0).read_commands();
  read_nested(context, 0);
  return std::move(context.script);
}

}  // namespace plumbline
