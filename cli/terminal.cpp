#include "cli/terminal.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "core/base/errors.h"

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

}  // namespace

Terminal::Terminal()
    : colours_(::isatty(STDOUT_FILENO) == 1 && !is_set("NO_COLOR") && !is_dumb()),
      shows_progress_(::isatty(STDERR_FILENO) == 1 && !is_dumb()) {}

Terminal::~Terminal() { clear_progress(); }

void Terminal::print(std::string_view text) {
  clear_progress();
  std::fwrite(text.data(), 1, text.size(), stdout);
}

void Terminal::finish() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
    throw EnvironmentError("standard output: cannot be written");
}

void Terminal::remark(std::string_view line) {
  clear_progress();
  std::fprintf(stderr, "%.*s\n", static_cast<int>(line.size()), line.data());
}

void Terminal::progress(std::string_view line) {
  if (!shows_progress_) return;
  const auto now = std::chrono::steady_clock::now();
  if (progress_stands_ && now - last_progress_ < std::chrono::milliseconds(100)) return;
  last_progress_ = now;
  progress_stands_ = true;
  const std::string_view shown = line.substr(0, terminal_columns - 1);
  std::fprintf(stderr, "\r\033[K%.*s", static_cast<int>(shown.size()), shown.data());
  std::fflush(stderr);
}

void Terminal::clear_progress() {
  if (!progress_stands_) return;
  std::fputs("\r\033[K", stderr);
  progress_stands_ = false;
}

std::string Terminal::painted(std::string_view text, Colour colour) const {
  if (!colours_ || colour == Colour::plain) return std::string(text);
  return std::string(code(colour)) + std::string(text) + "\033[0m";
}

}  // namespace plumbline
