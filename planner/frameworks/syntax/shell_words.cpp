#include "planner/frameworks/syntax/shell_words.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>

#include "core/base/ascii.h"
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
constexpr std::array<std::string_view, 5> declarations{"export", "local", "declare", "readonly", "typeset"};
constexpr std::array<std::string_view, 6> compound_begins{"if", "for", "while", "until", "case", "select"};
constexpr std::array<std::string_view, 4> branch_begins{"then", "else", "elif", "do"};
constexpr std::array<std::string_view, 3> compound_ends{"fi", "done", "esac"};

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/// Whether a body in "{ }" ends or begins, in a text whose variables nobody asks for.
enum class Reading : std::uint8_t { commands, end_of_body };

/// What stands behind a command.
enum class Separator : std::uint8_t { end, and_or, pipe, background };

class Reader {
 public:
  Reader(std::string_view text, ShellContext& context, Reading reading = Reading::commands, bool is_conditional = false)
      : cursor_{text}, context_(context), reading_(reading), is_conditional_(is_conditional) {}

  void read_commands() {
    while (!cursor_.at_end()) step();
    end_command(Separator::end);
    while (!scopes_.empty()) close_scope();
  }

  /// Behind the bracket that closes the one at `from`.
  std::size_t end_of_body(std::size_t from) {
    cursor_.at = from;
    while (!cursor_.at_end() && !is_body_over_) step();
    return cursor_.at;
  }

  void restore_locals(ShellVariables::Mark mark) {
    for (const std::string& name : locals_) variables().restore(name, mark);
  }

 private:
  enum class Kind : std::uint8_t { subshell, branch, group, list };
  struct Scope {
    Kind kind;
    ShellVariables::Mark mark;
    bool is_in_pipeline;
  };
  struct Assignment {
    std::string name;
    std::vector<std::string> values;
    bool is_list = false;
    bool appends = false;
  };

  [[nodiscard]] ShellVariables& variables() { return context_.script.variables; }
  std::vector<std::string> next_words(Splits splits) { return read_shell_words(cursor_, context_, splits); }

  void step() {
    const char c = cursor_.here();
    if (is_blank(c)) {
      ++cursor_.at;
    } else if (cursor_.skip_continuation()) {
    } else if (c == '#') {
      read_comment();
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
    const bool is_begun = !command_.empty() || pending_ || assignments_ || declares_;
    if (c == '\n' && continues_ && !is_begun) return skip_here_document();
    if (c == '&') return is_double ? ++cursor_.at, end_command(Separator::and_or) : end_command(Separator::background);
    if (c == '|') {
      if (is_double || cursor_.ahead(0) == '&') ++cursor_.at;
      return end_command(is_double ? Separator::and_or : Separator::pipe);
    }
    end_command(Separator::end);
    if (c == ';' && is_double) {
      ++cursor_.at;
      begin_next_branch();
    }
    if (c == '\n') skip_here_document();
  }

  // --- Scopes: what a subshell, a branch or a list does to variables.

  void open_scope(Kind kind) { scopes_.push_back({kind, variables().open(), was_piped_}); }
  void close_scope() {
    const Scope scope = scopes_.back();
    scopes_.pop_back();
    if (scope.kind == Kind::subshell || (scope.kind == Kind::group && scope.is_in_pipeline))
      variables().roll_back(scope.mark);
    else if (scope.kind == Kind::group)
      variables().keep(scope.mark);
    else
      variables().forget_since(scope.mark);
  }
  void close_list() {
    if (!scopes_.empty() && scopes_.back().kind == Kind::list) close_scope();
  }
  void begin_next_branch() {
    close_list();
    if (scopes_.empty() || scopes_.back().kind != Kind::branch) return;
    close_scope();
    open_scope(Kind::branch);
  }
  void close_scope_of(Kind kind) {
    close_list();
    if (!scopes_.empty() && scopes_.back().kind == kind) close_scope();
  }
  /// Of "}": whether what it did stays is known once it is known what stands behind it.
  void close_group() {
    close_list();
    if (scopes_.empty() || scopes_.back().kind != Kind::group) return;
    if (ended_group_) variables().keep(*ended_group_);  // "} }"
    ended_group_.reset();
    if (scopes_.back().is_in_pipeline) return close_scope();
    ended_group_ = scopes_.back().mark;
    scopes_.pop_back();
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
    open_body_bracket('(');
    end_command(Separator::end);
    open_scope(Kind::subshell);
    ++cursor_.at;
  }
  void close_bracket() {
    end_command(Separator::end);
    ++cursor_.at;
    if (!scopes_.empty() && scopes_.back().kind == Kind::branch) return;  // behind a pattern of `case`
    close_body_bracket('(');
    close_scope_of(Kind::subshell);
  }
  void open_body_bracket(char c) {
    if (reading_ == Reading::end_of_body) brackets_ += c;
  }
  void close_body_bracket(char c) {
    if (reading_ != Reading::end_of_body || brackets_.empty() || brackets_.back() != c) return;
    brackets_.pop_back();
    is_body_over_ = brackets_.empty();
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

  void call_function(const std::string& body) {
    if (context_.call_depth >= deepest_calls || context_.calls >= most_calls) return;
    ++context_.call_depth;
    ++context_.calls;
    context_.spend(body.size());
    const std::string text = body;  // a function may define itself anew
    const ShellVariables::Mark mark = variables().open();
    pass_arguments();
    Reader inside(text, context_, Reading::commands, is_conditional());
    inside.read_commands();
    inside.restore_locals(mark);
    for (int i = 1; i <= most_arguments; ++i) variables().restore(std::to_string(i), mark);
    variables().keep(mark);
    --context_.call_depth;
  }
  /// "$@" of the script itself is nothing.
  void pass_arguments() {
    for (int i = 1; i <= most_arguments; ++i) {
      const auto place = static_cast<std::size_t>(i);
      const bool is_given = place < command_.size() && command_[place] != "$@";
      if (is_given)
        variables().assign(std::to_string(i), {command_[place]});
      else
        variables().erase(std::to_string(i));
    }
  }

  // --- Commands.

  [[nodiscard]] bool is_conditional() const {
    return is_conditional_ || std::any_of(scopes_.begin(), scopes_.end(), [](const Scope& scope) {
             return scope.kind == Kind::branch || scope.kind == Kind::list;
           });
  }

  void end_command(Separator separator) {
    const bool is_in_subshell = was_piped_ || separator == Separator::pipe || separator == Separator::background;
    if (names_function_ && !command_.empty()) define_function();
    if (command_.empty())
      end_assignments(is_in_subshell);
    else
      run_command(is_in_subshell);
    if (ended_group_) is_in_subshell ? variables().roll_back(*ended_group_) : variables().keep(*ended_group_);
    ended_group_.reset();
    command_.clear();
    environment_.clear();
    after_keyword_ = declares_ = declares_integers_ = declares_reference_ = false;
    names_loop_variable_ = names_function_ = false;
    was_piped_ = separator == Separator::pipe;
    continues_ = separator == Separator::pipe || separator == Separator::and_or;
    if (separator != Separator::pipe) close_list();
    if (separator == Separator::and_or) open_scope(Kind::list);
    context_.spend(variables().remembered_bytes() - context_.counted_bytes);
    context_.counted_bytes = variables().remembered_bytes();
  }

  /// No program begins with '-': such a line goes on with the one before it.
  void run_command(bool is_in_subshell) {
    const ShellVariables::Mark mark = variables().open();
    if (const auto function = context_.functions.find(command_.front()); function != context_.functions.end())
      call_function(function->second);
    else
      run_builtin();
    is_in_subshell ? variables().roll_back(mark) : variables().keep(mark);
    std::vector<ShellCommand>& all = context_.script.commands;
    if (has_commands_ && command_.front().starts_with('-'))
      std::move(command_.begin(), command_.end(), std::back_inserter(all.back().words));
    else
      all.push_back({std::move(command_), std::move(environment_), is_conditional()}), has_commands_ = true;
  }

  /// Those that assign what is not read here.
  void run_builtin() {
    std::size_t first = 0;
    while (first + 1 < command_.size() && (command_[first] == "builtin" || command_[first] == "command")) ++first;
    const std::string& name = command_[first];
    const std::vector<std::string> words(command_.begin() + static_cast<std::ptrdiff_t>(first) + 1, command_.end());
    if (name == "read" || name == "mapfile" || name == "readarray" || name == "getopts" || name == "wait")
      for (const std::string& word : words) forget_named(word);
    if (name == "unset")
      for (const std::string& word : words)
        if (leading_name(word) == word) variables().erase(word);
    if (name == "printf" && words.size() > 1 && words.front() == "-v") forget_named(words[1]);
    if (name == "let")
      for (const std::string& word : words) forget_assigned(word, variables());
    if (name == "eval") evaluate(joined_words(words));
    if (is_among(declarations, name))
      for (const std::string& word : words)
        if (word.find('=') != std::string::npos) forget_named(word);
    if (name == "shift" || name == "set")
      for (int i = 1; i <= most_arguments; ++i)
        if (variables().find(std::to_string(i)) != nullptr) variables().forget(std::to_string(i));
  }
  void forget_named(std::string_view word) {
    if (const std::string_view name = leading_name(word); !name.empty()) variables().forget(std::string(name));
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
    if (names_function_ && command_.size() == 1) return define_function();
    if (command_.empty() && !names_function_ && read_assignment()) return;
    std::size_t digits = 0;
    while (is_digit(cursor_.ahead(digits))) ++digits;
    if (digits > 0 && (cursor_.ahead(digits) == '<' || cursor_.ahead(digits) == '>')) {  // 2>file
      cursor_.at += digits;
      return;
    }
    if (command_.empty() && !declares_) end_assignments(true);  // what stands ahead of a command is its alone
    const std::size_t first = cursor_.at;
    std::vector<std::string> words = next_words(Splits::yes);
    if (cursor_.at == first) ++cursor_.at;  // nothing that a word begins with
    const bool is_quoted =
        first < cursor_.text.size() && std::string_view("'\"\\$").find(cursor_.text[first]) != std::string_view::npos;
    for (std::string& word : words) add_word(std::move(word), is_quoted);
  }

  void add_word(std::string word, bool is_quoted) {
    if (command_.empty() && names_loop_variable_) {
      names_loop_variable_ = false;
      forget_named(word);
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
      open_scope(Kind::branch);
      was_piped_ = false;
      names_loop_variable_ = word == "for" || word == "select";
    } else if (is_among(branch_begins, word)) {
      begin_next_branch();
    } else if (is_among(compound_ends, word)) {
      close_scope_of(Kind::branch);
    } else if (is_among(declarations, word)) {
      declares_ = true;
      makes_local_ = word != "export" && word != "readonly";
    } else if (word == "{") {
      open_body_bracket('{');
      open_scope(Kind::group);
      was_piped_ = false;
    } else if (word == "}") {
      close_body_bracket('{');
      close_group();
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
    if (!declares_) apply_pending();
    cursor_.at += name.size() + (appends ? 2 : 1);
    Assignment one{name, {}, !cursor_.at_end() && cursor_.here() == '(', appends};
    if (one.is_list)
      one.values = read_list();
    else if (!cursor_.at_end())
      one.values = {joined_words(next_words(Splits::no))};
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
    apply_pending();
    cursor_.at = end + 1 + (behind.starts_with('=') ? 1 : 2);
    if (!cursor_.at_end()) (void)next_words(Splits::no);
    take_assignment({name, {"$" + name}});
    return true;
  }

  /// The last one is not applied before it is known whether a command follows, which it would be for alone.
  void take_assignment(Assignment one) {
    if (declares_) return declared_.push_back(std::move(one));
    apply_pending();
    environment_[one.name] = one.values.empty() ? "" : one.values.front();
    pending_ = std::move(one);
  }
  void apply_pending() {
    if (!pending_) return;
    if (!assignments_) assignments_ = variables().open();
    apply(*pending_);
    pending_.reset();
  }
  void end_assignments(bool are_dropped) {
    if (pending_ && !are_dropped) apply(*pending_);
    pending_.reset();
    // Of export and the like all words are read before the first one is assigned.
    for (const Assignment& one : declared_)
      if (!are_dropped) apply(one);
    declared_.clear();
    if (assignments_) are_dropped ? variables().roll_back(*assignments_) : variables().keep(*assignments_);
    assignments_.reset();
  }
  void apply(const Assignment& one) {
    if (context_.references.find(one.name) != context_.references.end()) return variables().forget_all();
    if (context_.integers.find(one.name) != context_.integers.end()) return apply_integer(one);
    if (one.appends)
      variables().append(one.name, one.values, one.is_list);
    else
      variables().assign(one.name, one.values);
  }
  /// Of declare -i: an expression, to which += adds.
  void apply_integer(const Assignment& one) {
    const std::vector<std::string>* const own = variables().find(one.name);
    const std::string before = own == nullptr || own->empty() || own->front().empty() ? "0" : own->front();
    const std::string value = one.values.empty() || one.values.front().empty() ? "0" : one.values.front();
    const auto sum =
        one.is_list ? std::nullopt : arithmetic(one.appends ? "(" + before + ")+(" + value + ")" : value, variables());
    if (sum)
      variables().assign(one.name, {std::to_string(*sum)});
    else
      variables().forget(one.name);
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
      } else if (ends_shell_word(cursor_.here()) && cursor_.placeholder_size() == 0) {
        ++cursor_.at;
      } else {
        for (std::string& word : next_words(Splits::yes)) values.push_back(std::move(word));
      }
    }
    if (cursor_.at_end()) cursor_.refuse(context_.name, first, "the list is not closed by ')'");
    ++cursor_.at;
    return values;
  }

  static constexpr int most_arguments = 9;

  ShellCursor cursor_;
  ShellContext& context_;
  Reading reading_;
  bool is_conditional_;
  std::string brackets_;  ///< that are open, where the end of a body is looked for
  bool is_body_over_ = false;
  std::vector<std::string> command_;
  std::vector<Scope> scopes_;
  std::vector<std::string> locals_;
  std::map<std::string, std::string, std::less<>> environment_;
  std::optional<Assignment> pending_;
  std::vector<Assignment> declared_;
  std::optional<ShellVariables::Mark> assignments_;  ///< where several stand before a command
  std::optional<ShellVariables::Mark> ended_group_;
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
