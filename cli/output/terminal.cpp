#include "cli/output/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <system_error>

#include "core/base/errors.h"
#include "core/base/escape.h"

namespace plumbline {
namespace {

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

bool is_dumb() {
  const char* kind = std::getenv("TERM");
  return kind != nullptr && std::string_view(kind) == "dumb";
}

constexpr std::string_view reset_code = "\033[0m";

std::string_view code(Colour colour) {
  switch (colour) {
    case Colour::plain: return "";
    case Colour::bold: return "\033[1m";
    case Colour::dim: return "\033[2m";
    case Colour::green: return "\033[32m";
    case Colour::yellow: return "\033[33m";
    case Colour::red: return "\033[31m";
  }
  return "";
}

/// The code of this program that `text` begins with, or nothing.
std::string_view own_code(std::string_view text) {
  for (const Colour colour : {Colour::bold, Colour::dim, Colour::green, Colour::yellow, Colour::red})
    if (text.starts_with(code(colour))) return code(colour);
  return text.starts_with(reset_code) ? reset_code : std::string_view();
}

/// Names come from files: of control characters only line breaks, tabs and our own colours reach the terminal.
std::string without_foreign_codes(std::string_view text, bool colours) {
  std::string result;
  while (!text.empty()) {
    const std::size_t next = colours ? text.find('\033', text.starts_with('\033') ? 1 : 0) : std::string_view::npos;
    std::string_view part = text.substr(0, next);
    text.remove_prefix(part.size());
    if (const std::string_view own = colours ? own_code(part) : std::string_view(); !own.empty()) {
      result += own;
      part.remove_prefix(own.size());
    }
    result += printable_lines(part);
  }
  return result;
}
/// Of the terminal on standard output; 0: there is none, or it does not say.
std::size_t columns_of_terminal() {
  winsize size{};
  return ::isatty(STDOUT_FILENO) == 1 && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

constexpr std::size_t readable_columns = 100;  // longer lines are hard to read

/// A number of columns as COLUMNS gives it; 0: none.
std::size_t columns_of_environment() {
  const char* text = std::getenv("COLUMNS");
  std::size_t columns = 0;
  if (text == nullptr) return columns;
  const std::string_view digits(text);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), columns);
  return error == std::errc() && end == digits.data() + digits.size() ? columns : 0;
}

bool has_colours(int descriptor) { return ::isatty(descriptor) == 1 && !is_set("NO_COLOR") && !is_dumb(); }

}  // namespace

std::size_t terminal_columns() { return std::min(table_columns(), readable_columns); }

std::size_t table_columns() {
  static constexpr std::size_t least = 70;   // below it tables would cut their numbers
  static constexpr std::size_t most = 1000;  // no table is wider
  static const std::size_t columns = [] {
    const std::size_t of_terminal = columns_of_terminal();
    const std::size_t asked = of_terminal > 0 ? of_terminal : columns_of_environment();
    return asked == 0 ? readable_columns : std::clamp(asked, least, most);
  }();
  return columns;
}

Terminal::Terminal()
    : colours_(has_colours(STDOUT_FILENO)), shows_progress_(::isatty(STDERR_FILENO) == 1 && !is_dumb()) {}

Terminal::~Terminal() { clear_progress(); }

void Terminal::print(std::string_view text) {
  clear_progress();
  const std::string safe = without_foreign_codes(text, colours_);
  std::fwrite(safe.data(), 1, safe.size(), results_);
}

void Terminal::finish() {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return;
  throw EnvironmentError("standard output: cannot be written" +
                         (errno == 0 ? std::string() : ": " + std::generic_category().message(errno)));
}

void Terminal::print_file(std::string_view text) {
  clear_progress();
  std::fwrite(text.data(), 1, text.size(), stdout);
  finish();
}

void Terminal::leave_standard_output() {
  results_ = stderr;
  colours_ = has_colours(STDERR_FILENO);
}

void Terminal::note(std::string_view line) {
  clear_progress();
  std::fprintf(stderr, "%s\n", printable(line).c_str());
}

void Terminal::progress(std::string_view line) {
  if (!shows_progress_) return;
  const auto now = std::chrono::steady_clock::now();
  if (progress_stands_ && now - last_progress_ < std::chrono::milliseconds(100)) return;
  last_progress_ = now;
  progress_stands_ = true;
  std::fprintf(stderr, "\r\033[K%s", printable(line.substr(0, terminal_columns() - 1)).c_str());
  std::fflush(stderr);
}

void Terminal::clear_progress() {
  if (!progress_stands_) return;
  std::fputs("\r\033[K", stderr);
  progress_stands_ = false;
}

std::string Terminal::painted(std::string_view text, Colour colour) const {
  if (!colours_ || colour == Colour::plain) return std::string(text);
  return std::string(code(colour)).append(text).append(reset_code);
}

}  // namespace plumbline
