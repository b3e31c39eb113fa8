#include "planner/frameworks/syntax/shell_words.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "core/base/ascii.h"
#include "planner/frameworks/syntax/shell_builtins.h"
#include "planner/frameworks/syntax/shell_scopes.h"
#include "planner/frameworks/syntax/shell_word_reader.h"

namespace plumbline {
namespace {

constexpr int deepest_calls = 8;
constexpr int most_calls = 1000;

template <std::size_t size>
bool is_among(const std::array<std::string_view, size>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// Words after which another command begins.
constexpr std::array<std::string_view, 3> transparent{"exec", "time", "!"};
constexpr std::array<std::string_view, 6> compound_begins{"if", "for", "while", "until", "case", "select"};
constexpr std::array<std::string_view, 4> branch_begins{"then", "else", "elif", "do"};
constexpr std::array<std::string_view, 3> compound_ends{"fi", "done", "esac"};

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/// Whether a body in "{ }" ends or begins, in a text whose variables nobody asks for.
enum class Reading : std::uint8_t { commands, end_of_body };

/// What stands behind a command.
enum class Separator : std::uint8_t { end, and_or, pipe, background };

/// Brackets of a function's body, where its end is looked for.
class BodyBrackets {
 public:
  void open(char c) { open_ += c; }
  void close(char c) {
    if (open_.empty() || open_.back() != c) return;
    open_.pop_back();
    is_over_ = open_.empty();
  }
  [[nodiscard]] bool is_over() const { return is_over_; }

 private:
  std::string open_;
  bool is_over_ = false;
};

/// To the end of the line; "#SBATCH" has words.
void read_comment(ShellCursor& cursor, ShellScript& script) {
  const std::size_t end = std::min(cursor.text.find('\n', cursor.at), cursor.text.size());
  const std::string_view line = cursor.text.substr(cursor.at, end - cursor.at);
  cursor.at = end;
  constexpr std::string_view batch = "#SBATCH ";
  if (!line.starts_with(batch)) return;
  const std::size_t comment = line.find(" #", batch.size());
  for (std::string& word : split_words(line.substr(batch.size(), comment - batch.size())))
    script.batch_words.push_back(std::move(word));
}

/// Lines up to the one that `end` is; no lines where it is empty.
void skip_here_document(ShellCursor& cursor, std::string& document_end) {
  if (document_end.empty()) return;
  while (!cursor.at_end()) {
    const std::size_t end = std::min(cursor.text.find('\n', cursor.at), cursor.text.size());
    std::string_view line = cursor.text.substr(cursor.at, end - cursor.at);
    cursor.at = std::min(end + 1, cursor.text.size());
    while (!line.empty() && is_blank(line.front())) line.remove_prefix(1);
    while (!line.empty() && is_blank(line.back())) line.remove_suffix(1);
    if (line == document_end) break;
  }
  document_end.clear();
}

/// The words of "(a b c)", with the cursor at the bracket.
std::vector<std::string> read_list(ShellCursor& cursor, ShellContext& context) {
  const std::size_t first = cursor.at++;
  std::vector<std::string> values;
  while (!cursor.at_end() && cursor.here() != ')') {
    if (is_shell_space(cursor.here())) {
      ++cursor.at;
    } else if (cursor.skip_continuation()) {
    } else if (cursor.here() == '#') {
      cursor.at = std::min(cursor.text.find('\n', cursor.at), cursor.text.size());
    } else if (ends_shell_word(cursor.here()) && cursor.placeholder_size() == 0) {
      ++cursor.at;
    } else {
      for (std::string& word : read_shell_words(cursor, context, Splits::yes)) values.push_back(std::move(word));
    }
  }
  if (cursor.at_end()) cursor.refuse(context.name, first, "the list is not closed by ')'");
  ++cursor.at;
  return values;
}

class Reader {
 public:
  Reader(std::string_view text, ShellContext& context, Reading reading = Reading::commands, bool is_conditional = false)
      : cursor_{text},
        context_(context),
        reading_(reading),
        is_conditional_(is_conditional),
        scopes_(context.script.variables),
        assignments_(context) {}

  void read_commands() {
    while (!cursor_.at_end()) step();
    end_command(Separator::end);
    scopes_.close_all();
  }

  /// Behind the bracket that closes the one at `from`.
  std::size_t end_of_body(std::size_t from) {
    cursor_.at = from;
    while (!cursor_.at_end() && !brackets_.is_over()) step();
    return cursor_.at;
  }

  void restore_locals(ShellVariables::Mark mark) {
    for (const std::string& name : locals_) variables().restore(name, mark);
  }

 private:
  using Kind = ShellScopes::Kind;

  [[nodiscard]] ShellVariables& variables() { return context_.script.variables; }

  void step() {
    const char c = cursor_.here();
    if (is_blank(c)) {
      ++cursor_.at;
    } else if (cursor_.skip_continuation()) {
    } else if (c == '#') {
      read_comment(cursor_, context_.script);
    } else if (cursor_.placeholder_size() > 0) {
      read_command_word();
    } else if (c == '<' || c == '>' || (c == '&' && cursor_.ahead(1) == '>')) {
      skip_redirection();
    } else if (c == '(') {
      open_bracket();
    } else if (c == ')') {
      close_bracket();
    } else if (ends_shell_word(c)) {
      read_separator(c);
    } else {
      read_command_word();
    }
  }

  void read_separator(char c) {
    const bool is_double = cursor_.ahead(1) == c;
    ++cursor_.at;
    const bool is_begun = !command_.empty() || !assignments_.empty() || declares_;
    if (c == '\n' && continues_ && !is_begun) return skip_here_document(cursor_, document_end_);
    if (c == '&') return is_double ? ++cursor_.at, end_command(Separator::and_or) : end_command(Separator::background);
    if (c == '|') {
      if (is_double || cursor_.ahead(0) == '&') ++cursor_.at;
      return end_command(is_double ? Separator::and_or : Separator::pipe);
    }
    end_command(Separator::end);
    if (c == ';' && is_double) {
      ++cursor_.at;
      scopes_.begin_next_branch();
    }
    if (c == '\n') skip_here_document(cursor_, document_end_);
  }

  void open_bracket() {
    if (cursor_.ahead(1) == '(' && command_.empty()) return skip_arithmetic_command();
    if (command_.size() == 1 || names_function_) {
      std::size_t by = 1;
      while (is_blank(cursor_.ahead(by))) ++by;
      if (cursor_.ahead(by) == ')') {
        cursor_.at += by + 1;
        return define_function();
      }
    }
    brackets_.open('(');
    end_command(Separator::end);
    scopes_.open(Kind::subshell, was_piped_);
    ++cursor_.at;
  }
  void close_bracket() {
    end_command(Separator::end);
    ++cursor_.at;
    if (scopes_.is_in(Kind::branch)) return;  // behind a pattern of `case`
    brackets_.close('(');
    scopes_.close_of(Kind::subshell);
  }
  /// (( expression ))
  void skip_arithmetic_command() {
    const std::size_t first = cursor_.at;
    const std::size_t end = std::min(cursor_.text.find("))", first), cursor_.text.size());
    forget_assigned(cursor_.text.substr(first, end - first), variables());
    cursor_.at = std::min(end + 2, cursor_.text.size());
    command_.emplace_back("((");
  }

  // --- Functions.

  /// The cursor is behind "NAME()" or "function NAME".
  void define_function() {
    const std::string name = command_.empty() ? "" : command_.back();
    command_.clear();
    names_function_ = false;
    if (reading_ == Reading::end_of_body) return;  // its brackets count like any others
    while (!cursor_.at_end() && is_shell_space(cursor_.here())) ++cursor_.at;
    if (cursor_.at_end() || (cursor_.here() != '{' && cursor_.here() != '(')) return;
    ShellContext nobody{context_.name, {}, context_.expanded_bytes};
    const std::size_t end = Reader(cursor_.text, nobody, Reading::end_of_body).end_of_body(cursor_.at);
    context_.expanded_bytes = nobody.expanded_bytes;
    context_.functions[name] = std::string(cursor_.text.substr(cursor_.at, end - cursor_.at));
    cursor_.at = end;
  }

  /// `body`: none that the context holds, as a function may define itself anew.
  void call_function(std::string_view body) {
    if (context_.call_depth >= deepest_calls || context_.calls >= most_calls) return;
    ++context_.call_depth;
    ++context_.calls;
    context_.spend(body.size());
    const ShellVariables::Mark mark = variables().open();
    pass_arguments(command_, variables());
    Reader inside(body, context_, Reading::commands, is_conditional());
    inside.read_commands();
    inside.restore_locals(mark);
    restore_arguments(mark, variables());
    variables().keep(mark);
    --context_.call_depth;
  }
  // --- Commands.

  [[nodiscard]] bool is_conditional() const { return is_conditional_ || scopes_.is_conditional(); }

  void end_command(Separator separator) {
    const bool is_in_subshell = was_piped_ || separator == Separator::pipe || separator == Separator::background;
    if (names_function_ && !command_.empty()) define_function();
    if (command_.empty())
      assignments_.end(is_in_subshell);
    else
      run_command(is_in_subshell);
    scopes_.end_group(is_in_subshell);
    command_.clear();
    (void)assignments_.take_environment();
    after_keyword_ = declares_ = declares_integers_ = declares_reference_ = false;
    names_loop_variable_ = names_function_ = false;
    was_piped_ = separator == Separator::pipe;
    continues_ = separator == Separator::pipe || separator == Separator::and_or;
    if (separator != Separator::pipe) scopes_.close_list();
    if (separator == Separator::and_or) scopes_.open(Kind::list, false);
    context_.spend(variables().remembered_bytes() - context_.counted_bytes);
    context_.counted_bytes = variables().remembered_bytes();
  }

  /// No program begins with '-': such a line goes on with the one before it.
  void run_command(bool is_in_subshell) {
    const ShellVariables::Mark mark = variables().open();
    if (const auto function = context_.functions.find(command_.front()); function != context_.functions.end()) {
      std::string body = function->second;
      call_function(body);
    } else {
      run_own_builtin();
    }
    is_in_subshell ? variables().roll_back(mark) : variables().keep(mark);
    std::vector<ShellCommand>& all = context_.script.commands;
    if (has_commands_ && command_.front().starts_with('-'))
      std::move(command_.begin(), command_.end(), std::back_inserter(all.back().words));
    else
      all.push_back({std::move(command_), assignments_.take_environment(), is_conditional()}), has_commands_ = true;
  }

  void run_own_builtin() {
    std::size_t first = 0;
    while (first + 1 < command_.size() && (command_[first] == "builtin" || command_[first] == "command")) ++first;
    const std::vector<std::string> words(command_.begin() + static_cast<std::ptrdiff_t>(first) + 1, command_.end());
    if (command_[first] == "eval") return evaluate(joined_words(words));
    run_builtin(command_[first], words, variables());
  }
  /// A text that is known is read; of another one what it shows to be assigned is unknown.
  void evaluate(const std::string& text) {
    if (text.find_first_of("$`") != std::string::npos || context_.call_depth >= deepest_calls)
      return forget_assigned(text, variables());
    ++context_.call_depth;
    context_.spend(text.size());
    Reader(text, context_, Reading::commands, is_conditional()).read_commands();
    --context_.call_depth;
  }

  void skip_redirection() {
    const bool is_document = cursor_.here() == '<' && cursor_.ahead(1) == '<' && cursor_.ahead(2) != '<';
    while (!cursor_.at_end() &&
           (cursor_.here() == '<' || cursor_.here() == '>' || cursor_.here() == '&' || cursor_.here() == '|'))
      ++cursor_.at;
    if (is_document && cursor_.ahead(0) == '-') ++cursor_.at;
    while (!cursor_.at_end() && is_blank(cursor_.here())) ++cursor_.at;
    const std::string target = cursor_.at_end() ? "" : joined_words(read_shell_words(cursor_, context_, Splits::no));
    if (is_document) document_end_ = target;
  }

  void read_command_word() {
    if (names_function_ && command_.size() == 1) return define_function();
    if (command_.empty() && !names_function_ && read_assignment()) return;
    std::size_t digits = 0;
    while (is_digit(cursor_.ahead(digits))) ++digits;
    if (digits > 0 && (cursor_.ahead(digits) == '<' || cursor_.ahead(digits) == '>')) {  // 2>file
      cursor_.at += digits;
      return;
    }
    if (command_.empty() && !declares_) assignments_.end(true);  // what stands ahead of a command is its alone
    const std::size_t first = cursor_.at;
    std::vector<std::string> words = read_shell_words(cursor_, context_, Splits::yes);
    if (cursor_.at == first) ++cursor_.at;  // nothing that a word begins with
    const bool is_quoted =
        first < cursor_.text.size() && std::string_view("'\"\\$").find(cursor_.text[first]) != std::string_view::npos;
    for (std::string& word : words) add_word(std::move(word), is_quoted);
  }

  void add_word(std::string word, bool is_quoted) {
    if (command_.empty() && names_loop_variable_) {
      names_loop_variable_ = false;
      forget_named(word, variables());
    }
    if (command_.empty() && declares_) return declare(word);
    const bool may_be_keyword = command_.empty() && !is_quoted && !names_function_;
    if (may_be_keyword && (take_keyword(word) || (after_keyword_ && word.starts_with('-')))) {
      after_keyword_ = true;
      return;
    }
    command_.push_back(std::move(word));
  }

  bool take_keyword(const std::string& word) {
    continues_ = false;
    if (is_among(compound_begins, word)) {
      scopes_.open(Kind::branch, was_piped_);
      was_piped_ = false;
      names_loop_variable_ = word == "for" || word == "select";
    } else if (is_among(branch_begins, word)) {
      scopes_.begin_next_branch();
    } else if (is_among(compound_ends, word)) {
      scopes_.close_of(Kind::branch);
    } else if (is_declaration(word)) {
      declares_ = true;
      makes_local_ = word != "export" && word != "readonly";
    } else if (word == "{") {
      brackets_.open('{');
      scopes_.open(Kind::group, was_piped_);
      was_piped_ = false;
    } else if (word == "}") {
      brackets_.close('{');
      scopes_.close_group();
    } else if (word == "function") {
      names_function_ = true;
    } else {
      return is_among(transparent, word);
    }
    return true;
  }

  /// A word behind export, declare and the like that is no plain NAME=value.
  void declare(const std::string& word) {
    if (word.starts_with('-')) {
      declares_integers_ = declares_integers_ || word.find('i') != std::string::npos;
      declares_reference_ = declares_reference_ || word.find('n') != std::string::npos;
      makes_local_ = makes_local_ && word.find('g') == std::string::npos;
      return;
    }
    const std::string name(leading_name(word));
    if (name.empty()) return;
    if (makes_local_) locals_.push_back(name);
    note_kind(name);
    const std::string_view rest = std::string_view(word).substr(name.size());
    if (rest.starts_with('='))
      take_assignment({name, {std::string(rest.substr(1))}});
    else if (!rest.empty())
      variables().forget(name);
    else if (makes_local_ && context_.call_depth > 0)
      variables().forget(name);
  }

  void note_kind(const std::string& name) {
    if (declares_integers_) context_.integers.insert(name);
    if (declares_reference_) context_.references.insert(name);
  }

  // --- Assignments.

  /// NAME=value, NAME+=value, NAME=(words); NAME[i]=value, of which no list is kept.
  bool read_assignment() {
    const std::string name(leading_name(cursor_.text.substr(cursor_.at)));
    if (name.empty()) return false;
    if (cursor_.ahead(name.size()) == '[') return read_element(name);
    const bool appends = cursor_.ahead(name.size()) == '+';
    if (cursor_.ahead(name.size() + (appends ? 1 : 0)) != '=') return false;
    if (!declares_) assignments_.apply_pending();
    cursor_.at += name.size() + (appends ? 2 : 1);
    ShellAssignment one{name, {}, !cursor_.at_end() && cursor_.here() == '(', appends};
    if (one.is_list)
      one.values = read_list(cursor_, context_);
    else if (!cursor_.at_end())
      one.values = {joined_words(read_shell_words(cursor_, context_, Splits::no))};
    if (one.values.empty() && !one.is_list) one.values = {""};
    const bool has_indices = one.is_list && std::any_of(one.values.begin(), one.values.end(), [](const auto& value) {
                               return value.starts_with('[') && value.find("]=") != std::string::npos;
                             });
    if (has_indices) one.values = {"$" + name};
    if (declares_ && makes_local_) locals_.push_back(name);
    note_kind(name);
    take_assignment(std::move(one));
    return true;
  }
  bool read_element(const std::string& name) {
    const std::size_t end = cursor_.text.find_first_of("]\n", cursor_.at);
    if (end == std::string_view::npos || cursor_.text[end] != ']') return false;
    const std::string_view behind = cursor_.text.substr(end + 1, 2);
    if (!behind.starts_with('=') && behind != "+=") return false;
    assignments_.apply_pending();
    cursor_.at = end + 1 + (behind.starts_with('=') ? 1 : 2);
    if (!cursor_.at_end()) (void)read_shell_words(cursor_, context_, Splits::no);
    take_assignment({name, {"$" + name}});
    return true;
  }

  void take_assignment(ShellAssignment one) {
    declares_ ? assignments_.declare(std::move(one)) : assignments_.take(std::move(one));
  }

  ShellCursor cursor_;
  ShellContext& context_;
  Reading reading_;
  bool is_conditional_;
  ShellScopes scopes_;
  ShellAssignments assignments_;
  BodyBrackets brackets_;
  std::vector<std::string> command_;
  std::vector<std::string> locals_;
  bool has_commands_ = false;
  bool was_piped_ = false;
  bool continues_ = false;  ///< behind |, && and ||: a line break ends nothing
  bool after_keyword_ = false;
  bool declares_ = false;
  bool makes_local_ = false;
  bool declares_integers_ = false;
  bool declares_reference_ = false;
  bool names_loop_variable_ = false;
  bool names_function_ = false;
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
    for (const std::string& word : command.words)
      if (holds_flags(word)) texts.push_back(word);
  if (texts.empty()) return;
  ShellContext inner{context.name, {}, context.expanded_bytes};
  inner.script.variables = context.script.variables;
  inner.counted_bytes = inner.script.variables.remembered_bytes();
  for (const std::string& text : texts) {
    inner.spend(text.size());
    Reader(text, inner).read_commands();
  }
  read_nested(inner, depth + 1);
  std::move(inner.script.commands.begin(), inner.script.commands.end(), std::back_inserter(context.script.commands));
}

bool has_flags(const ShellScript& script) {
  return std::any_of(script.commands.begin(), script.commands.end(), [](const ShellCommand& command) {
    return std::any_of(command.words.begin(), command.words.end(),
                       [](const std::string& word) { return word.starts_with("--"); });
  });
}

/// Of a script that another one reads: nobody calls its functions here.
void read_uncalled(ShellContext& context) {
  const auto functions = context.functions;
  for (const auto& [name, body] : functions) {
    context.spend(body.size());
    Reader(body, context, Reading::commands, true).read_commands();
  }
}

}  // namespace

ShellScript read_shell(std::string_view text, std::string_view name) {
  ShellContext context{std::string(name), {}, 0};
  Reader(text, context).read_commands();
  if (!has_flags(context.script)) read_uncalled(context);
  read_nested(context, 0);
  return std::move(context.script);
}

}  // namespace plumbline
