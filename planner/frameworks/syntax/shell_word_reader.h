#pragma once
/// \file shell_word_reader.h: words of a shell script: quotes, substitutions and what they stand for.
///
/// What is understood and what is not: arguments.h.
/// Checked against: tests/unit/planner/frameworks/syntax/arguments_test.cpp.

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "planner/frameworks/syntax/shell_words.h"

namespace plumbline {

/// Shared by a text and the texts inside it.
struct ShellContext {
  std::string name;
  ShellScript script;
  std::size_t expanded_bytes = 0;
  std::map<std::string, std::string, std::less<>> functions = {};  ///< bodies by name
  std::set<std::string, std::less<>> integers = {};                ///< declare -i
  std::set<std::string, std::less<>> references = {};              ///< declare -n
  std::size_t counted_bytes = 0;  ///< of what the variables remember, among those expanded
  int call_depth = 0;
  int calls = 0;

  /// Throws InputError beyond 16 MiB.
  void spend(std::size_t bytes);
};

/// A place in a text.
struct ShellCursor {
  std::string_view text;
  std::size_t at = 0;

  [[nodiscard]] bool at_end() const { return at >= text.size(); }
  [[nodiscard]] char here() const { return text[at]; }
  [[nodiscard]] char ahead(std::size_t by) const { return at + by < text.size() ? text[at + by] : '\0'; }
  /// Of "<TENSORBOARD DIRECTORY>" or "<Specify path>", which stand for a value that is to be filled in, though to a
  /// shell they are redirections; 0: none begins here.
  [[nodiscard]] std::size_t placeholder_size() const;
  /// A backslash before the end of a line, "\r\n" too.
  bool skip_continuation();
  [[noreturn]] void refuse(const std::string& name, std::size_t from, std::string_view what) const;
};

[[nodiscard]] bool is_shell_space(char c);
[[nodiscard]] bool ends_shell_word(char c);
[[nodiscard]] std::string joined_words(const std::vector<std::string>& words);

/// Whether an unquoted variable with spaces is several words.
enum class Splits : std::uint8_t { no, yes };
enum class IsQuoted : std::uint8_t { no, yes };

/// The word at the cursor, which moves behind it; several where a variable holds several. Throws InputError.
[[nodiscard]] std::vector<std::string> read_shell_words(ShellCursor& cursor, ShellContext& context, Splits splits);
/// What an arithmetic expression may assign (NAME=, NAME+=, NAME++) is unknown from now on.
void forget_assigned(std::string_view expression, ShellVariables& variables);
/// Words of a text that spaces part, without quotes.
[[nodiscard]] std::vector<std::string> split_words(std::string_view text);

}  // namespace plumbline
