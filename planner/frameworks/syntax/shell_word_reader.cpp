#include "planner/frameworks/syntax/shell_word_reader.h"

#include <algorithm>
#include <cctype>

#include "core/base/ascii.h"
#include "core/base/errors.h"

namespace plumbline {
namespace {

constexpr std::size_t most_expanded_bytes = std::size_t{16} << 20;
constexpr int deepest_word_nesting = 16;

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
  /// As an unquoted variable is: spaces end words, but those of a command whose output nobody knows.
  void add_split(std::string_view text) {
    bool in_backticks = false;
    int open = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const char c = text[i];
      if (c == '`') in_backticks = !in_backticks;
      if (c == '(' && (open > 0 || (i > 0 && text[i - 1] == '$'))) ++open;
      if (c == ')' && open > 0) --open;
      is_shell_space(c) && !in_backticks && open == 0 ? end_word() : add(c);
    }
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

/// A variable's name, or the number of an argument of the script: "1" of "1:-2".
std::string_view parameter_name(std::string_view inside) {
  const std::size_t digits = std::min(inside.find_first_not_of("0123456789"), inside.size());
  return digits > 0 ? inside.substr(0, digits) : leading_name(inside);
}

class WordReader {
 public:
  WordReader(ShellCursor& cursor, ShellContext& context, int depth)
      : cursor_(cursor), context_(context), depth_(depth) {}

  std::vector<std::string> read_words(Splits splits) {
    Growing word;
    while (!cursor_.at_end() && (!ends_shell_word(cursor_.here()) || cursor_.placeholder_size() > 0))
      read_part(word, splits);
    return word.take();
  }

 private:
  void read_part(Growing& word, Splits splits) {
    const char c = cursor_.here();
    if (cursor_.skip_continuation()) return;
    if (c == '\'') return read_single_quotes(word);
    if (c == '"') return read_double_quotes(word);
    if (c == '$') return read_dollar(word, splits, false);
    if (c == '`') return read_backticks(word);
    if (const std::size_t size = cursor_.placeholder_size(); size > 0) {
      word.add(cursor_.text.substr(cursor_.at, size));
      cursor_.at += size;
      return;
    }
    if (c == '\\' && cursor_.at + 1 < cursor_.text.size()) ++cursor_.at;
    word.add(cursor_.here());
    ++cursor_.at;
  }

  void read_single_quotes(Growing& word) {
    const std::size_t end = cursor_.text.find('\'', cursor_.at + 1);
    if (end == std::string_view::npos) cursor_.refuse(context_.name, cursor_.at, "the quote is not closed");
    word.add(cursor_.text.substr(cursor_.at + 1, end - cursor_.at - 1));
    cursor_.at = end + 1;
  }

  void read_double_quotes(Growing& word) {
    const std::size_t first = cursor_.at++;
    word.add("");
    while (!cursor_.at_end() && cursor_.here() != '"') read_in_quotes(word);
    if (cursor_.at_end()) cursor_.refuse(context_.name, first, "the quote is not closed");
    ++cursor_.at;
  }

  void read_in_quotes(Growing& word) {
    const char c = cursor_.here();
    if (cursor_.skip_continuation()) return;
    if (c == '$') return read_dollar(word, Splits::no, true);
    if (c == '`') return read_backticks(word);
    if (c == '\\' && std::string_view("$`\"\\").find(cursor_.ahead(1)) != std::string_view::npos &&
        cursor_.at + 1 < cursor_.text.size())
      ++cursor_.at;
    word.add(cursor_.here());
    ++cursor_.at;
  }

  void read_backticks(Growing& word) {
    const std::size_t end = cursor_.text.find('`', cursor_.at + 1);
    if (end == std::string_view::npos) cursor_.refuse(context_.name, cursor_.at, "the '`' is not closed");
    word.add(cursor_.text.substr(cursor_.at, end + 1 - cursor_.at));
    cursor_.at = end + 1;
  }

  void read_dollar(Growing& word, Splits splits, bool is_quoted) {
    if (cursor_.ahead(1) == '(' && cursor_.ahead(2) == '(') return read_arithmetic(word);
    if (cursor_.ahead(1) == '(') {
      word.add(take_until_closed('(', ')'));
    } else if (cursor_.ahead(1) == '{') {
      const std::string_view whole = take_until_closed('{', '}');
      add_variable(word, whole, whole.substr(2, whole.size() - 3), splits, is_quoted);
    } else {
      const bool is_argument = is_digit(cursor_.ahead(1));
      const std::string_view name =
          is_argument ? cursor_.text.substr(cursor_.at + 1, 1) : leading_name(cursor_.text.substr(cursor_.at + 1));
      const std::string_view whole = cursor_.text.substr(cursor_.at, 1 + name.size());
      cursor_.at += whole.size();
      if (name.empty())
        word.add(whole);
      else
        add_variable(word, whole, name, splits, is_quoted);
    }
  }

  /// "$(...)" or "${...}" as a whole, with what is nested in it.
  std::string_view take_until_closed(char opens, char closes) {
    const std::size_t first = cursor_.at;
    int open = 0;
    for (++cursor_.at; !cursor_.at_end(); ++cursor_.at) {
      if (cursor_.here() == '\\') {
        ++cursor_.at;
      } else if (cursor_.here() == opens) {
        ++open;
      } else if (cursor_.here() == closes && --open == 0) {
        ++cursor_.at;
        return cursor_.text.substr(first, cursor_.at - first);
      }
    }
    cursor_.at = cursor_.text.size();
    cursor_.refuse(context_.name, first, std::string("the bracket is not closed by '") + closes + "'");
  }

  void read_arithmetic(Growing& word) {
    const std::string_view whole = take_until_closed('(', ')');
    const bool is_complete = whole.size() >= 5 && whole.substr(whole.size() - 2) == "))";
    const auto value =
        is_complete ? arithmetic(whole.substr(3, whole.size() - 5), context_.script.variables) : std::nullopt;
    if (!value) forget_assigned(whole.substr(3), context_.script.variables);
    word.add(value ? std::to_string(*value) : std::string(whole));
  }

  /// `inside`: of the braces: a name and what is to be done with its value.
  void add_variable(Growing& word, std::string_view whole, std::string_view inside, Splits splits, bool is_quoted) {
    const std::string_view name = parameter_name(inside);
    const std::string_view rest = inside.substr(name.size());
    const std::vector<std::string>* const values = context_.script.variables.find(name);
    if (values != nullptr && (rest == "[@]" || rest == "[*]")) return add_list(word, *values, is_quoted);
    const std::size_t start = rest.starts_with(":-") || rest.starts_with(":=") ? 2
                              : rest.starts_with('-') || rest.starts_with('=') ? 1
                                                                               : 0;
    std::string value;
    if (values != nullptr && !values->empty() && (rest.empty() || (start > 0 && !values->front().empty())))
      value = values->front();
    else if (start > 0 && depth_ < deepest_word_nesting)
      value = expanded(rest.substr(start), is_quoted);
    else if (values == nullptr || !rest.empty())
      value = std::string(whole);
    context_.spend(value.size());
    const bool is_output =
        value.starts_with('`') || value.starts_with("$(");  // of a command: one word as likely as many
    if (splits == Splits::yes && value != whole && !is_output)
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

  /// A text that is a part of a word, or of what double quotes hold.
  std::string expanded(std::string_view text, bool is_quoted) {
    ShellCursor inside{text};
    WordReader reader(inside, context_, depth_ + 1);
    Growing word;
    while (!inside.at_end())
      if (is_quoted)
        reader.read_in_quotes(word);
      else
        reader.read_part(word, Splits::no);
    return joined_words(word.take());
  }

  ShellCursor& cursor_;
  ShellContext& context_;
  int depth_;
};

}  // namespace

void ShellContext::spend(std::size_t bytes) {
  expanded_bytes += bytes + 1;
  if (expanded_bytes > most_expanded_bytes)
    throw InputError({name, "its variables expand to more than 16 MiB", "a launch script", ""});
}

std::size_t ShellCursor::placeholder_size() const {
  constexpr std::size_t longest = 100;
  if (at_end() || here() != '<' || std::isalpha(static_cast<unsigned char>(ahead(1))) == 0) return 0;
  bool has_space = false;
  bool is_upper = true;
  for (std::size_t i = 1; i < longest; ++i) {
    const char c = ahead(i);
    if (c == '>') {
      const bool is_closed = ahead(i - 1) != ' ' && ahead(i + 1) != '>' && ahead(i + 1) != '&';
      return is_closed && (has_space || is_upper) ? i + 1 : 0;
    }
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) == 0 && std::string_view(" _-./:,").find(c) == std::string_view::npos) return 0;
    if (c == '\0') return 0;
    has_space = has_space || c == ' ';
    is_upper = is_upper && std::islower(byte) == 0;
  }
  return 0;
}

void forget_assigned(std::string_view expression, ShellVariables& variables) {
  for (std::size_t i = 0; i < expression.size();) {
    const std::string_view name = leading_name(expression.substr(i));
    if (name.empty()) {
      ++i;
      continue;
    }
    const std::size_t behind = std::min(expression.find_first_not_of(" \t", i + name.size()), expression.size());
    const std::string_view rest = expression.substr(behind);
    const std::size_t operation = std::min(rest.find_first_not_of("+-*/%<>&^|"), rest.size());
    const bool is_assigned = rest.substr(operation).starts_with('=') && !rest.substr(operation).starts_with("==");
    const bool is_counted = rest.starts_with("++") || rest.starts_with("--") ||
                            (i >= 2 && (expression.substr(i - 2, 2) == "++" || expression.substr(i - 2, 2) == "--"));
    if (is_assigned || is_counted) variables.forget(std::string(name));
    i += name.size();
  }
}

bool ShellCursor::skip_continuation() {
  if (here() != '\\') return false;
  const std::size_t size = ahead(1) == '\n' ? 2 : ahead(1) == '\r' && ahead(2) == '\n' ? 3 : 0;
  at += size;
  return size > 0;
}

void ShellCursor::refuse(const std::string& name, std::size_t from, std::string_view what) const {
  const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(from), '\n');
  throw InputError({name + ", line " + std::to_string(line), std::string(what), "a shell script", ""});
}

bool is_shell_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
bool ends_shell_word(char c) {
  return is_shell_space(c) || std::string_view(";&|()<>").find(c) != std::string_view::npos;
}

std::string joined_words(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::vector<std::string> read_shell_words(ShellCursor& cursor, ShellContext& context, Splits splits) {
  return WordReader(cursor, context, 0).read_words(splits);
}

std::vector<std::string> split_words(std::string_view text) {
  Growing words;
  words.add_split(text);
  return words.take();
}

}  // namespace plumbline
