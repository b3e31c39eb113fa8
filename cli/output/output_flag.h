#pragma once
/// \file output_flag.h: a flag that names a file which the verb writes.
///
/// "-" is standard output: then that file and nothing else goes there, and what people read goes to standard error.

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/output/terminal.h"

namespace CLI {
class App;
}

namespace plumbline {

enum class Narration : std::uint8_t { notes, silent };
enum class StandardOutput : std::uint8_t { text, json };

/// Adds --force to a verb, once: its outputs may replace what they would otherwise leave alone.
void declare_force(CLI::App& app);
[[nodiscard]] bool is_forced(const CLI::App& app);

class OutputFlag {
 public:
  /// `what`: "trace", for the note that it was written; empty: no note.
  OutputFlag(const char* flag, const char* what) : flag_(flag), what_(what) {}
  /// Adds --force as well.
  void declare(CLI::App& app, const char* help, const char* group = "Output");

  [[nodiscard]] const char* flag() const { return flag_; }
  [[nodiscard]] const std::optional<std::string>& name() const { return name_; }
  explicit operator bool() const { return name_.has_value(); }
  [[nodiscard]] bool is_standard_output() const { return name_ == "-"; }
  /// What the file's name calls the thing in it: "mine" of folder/mine.json; "own" on standard output. Throws
  /// InputError without the flag and for a name that leaves none; `expected` says what the flag should name.
  [[nodiscard]] std::string stem(const char* expected) const;
  /// Where the file will be; empty for standard output and without the flag.
  [[nodiscard]] std::filesystem::path folder() const;

  /// Where the flag was given: makes the text and writes it, whole or not at all (core/io/output_file.h).
  void write(const std::function<std::string()>& text, Terminal& terminal, Narration narration) const;

 private:
  /// Throws InputError where another flag or word of the command names the file, unless --force is given.
  void require_no_input() const;

  const char* flag_;
  const char* what_;
  std::optional<std::string> name_;
  const CLI::App* app_ = nullptr;  ///< of the verb that declares it

  friend void require_writable(const std::vector<const OutputFlag*>& flags, StandardOutput use, Terminal& terminal);
};

/// Every verb asks it before its work. Throws InputError for names that cannot be written, two flags of one file, a
/// file that the command also reads (unless --force is given), and "-" alongside --json; makes way on standard output
/// for the flag that is "-".
void require_writable(const std::vector<const OutputFlag*>& flags, StandardOutput use, Terminal& terminal);

}  // namespace plumbline
