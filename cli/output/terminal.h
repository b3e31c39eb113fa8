#pragma once
/// \file terminal.h: what is printed where: results on standard output, progress and notes on standard error.
///
/// Colour only when standard output is a terminal and NO_COLOR is unset or empty (no-color.org).

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace plumbline {

enum class Colour : std::uint8_t { plain, bold, dim, green, yellow, red };

/// How wide text is: as the terminal on standard output, else as COLUMNS says, else 100; from 70 to 100. Found once.
[[nodiscard]] std::size_t terminal_columns();
/// For tables that can use more: as wide as the terminal or COLUMNS, else 100; at least 70.
[[nodiscard]] std::size_t table_columns();

class Terminal {
 public:
  Terminal();
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  /// Results. `finish` throws EnvironmentError when they could not be written.
  void print(std::string_view text);
  void finish();
  /// A file that was asked for on standard output; `leave_standard_output` sends results to standard error for it.
  void print_file(std::string_view text);
  void leave_standard_output();
  /// One line on standard error.
  void note(std::string_view line);
  /// Replaces the progress line, at most ten times a second; nothing when standard error is no terminal.
  void progress(std::string_view line);
  void clear_progress();

  [[nodiscard]] std::string painted(std::string_view text, Colour colour) const;

 private:
  std::FILE* results_ = stdout;
  bool colours_;
  bool shows_progress_;
  bool progress_stands_ = false;
  std::chrono::steady_clock::time_point last_progress_;
};

}  // namespace plumbline
