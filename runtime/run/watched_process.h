#pragma once
/// \file watched_process.h: one process that works and one that says what became of it.
///
/// Model: a process that is killed cannot say so, and a launcher knows its number only. So the process forks: the child
/// works and notes where it is in memory that both share; the parent waits. Signals that ask the parent to end are
/// handed on. A child whose parent is killed says so and ends, with exit code 3 (Linux).
/// Source: fork(2), waitpid(2), mmap(2), prctl(2) PR_SET_PDEATHSIG. Not modelled: children of the child; a computer
/// that stops. Checked against: tests/runtime/run/watched_process_test.cpp, tests/integration/mpi_run_test.py.

#include <optional>
#include <string>
#include <string_view>

namespace plumbline {

/// A short text that survives whoever wrote it. One process writes; another reads once the writer has ended.
class SharedNote {
 public:
  static constexpr std::size_t most_characters = 500;  ///< more are cut off

  /// Throws EnvironmentError when there is no memory.
  explicit SharedNote(std::string_view text);
  SharedNote(const SharedNote&) = delete;
  SharedNote& operator=(const SharedNote&) = delete;
  ~SharedNote();

  /// A writer that dies meanwhile leaves the text before.
  void write(std::string_view text);
  /// Also in signal handlers: allocates nothing. Good until the next but one `write`.
  [[nodiscard]] std::string_view text() const;

 private:
  struct Page;
  Page* page_;
};

struct ProcessEnd {
  int exit_code = 0;
  int signal = 0;             ///< that ended it; 0: none
  bool was_asked_to = false;  ///< by a signal that the parent handed on
};

/// Forks. In the child: none. In the parent, once the child has ended: how. Call it before threads are started, at most
/// once. `note` lives until the process ends. Throws EnvironmentError when the system refuses.
[[nodiscard]] std::optional<ProcessEnd> fork_and_watch(const SharedNote& note);

}  // namespace plumbline
