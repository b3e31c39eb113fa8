#pragma once
/// \file interruption.h: Ctrl-C and time limits as a stop token: what was found so far is not lost.

#include <atomic>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "core/quantity/quantity.h"

namespace plumbline {

/// While it lives SIGINT and SIGTERM ask for a stop instead of ending the process; a second one ends it at once, and
/// says so. What the starting process ignores (nohup, a background job of a script) stays ignored. Make it before
/// threads are started, so that they inherit the blocked signals.
class Interruption {
 public:
  explicit Interruption(std::optional<Seconds> time_limit);
  /// Of a process over which `watcher` watches: a launcher signals both, and what the watcher hands on, maybe much
  /// later, is no second signal.
  Interruption(std::optional<Seconds> time_limit, std::int32_t watcher);
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  [[nodiscard]] std::stop_token token() const { return stop_.get_token(); }
  [[nodiscard]] bool asked() const { return stop_.stop_requested(); }
  /// The one that asked; 0: none, or a time limit.
  [[nodiscard]] int signal() const { return first_signal_; }
  /// The work has ended: signals change nothing from now until the process ends. A launcher ends the ranks that are a
  /// moment behind the first with them.
  void ignore_signals() { ignores_ = true; }

 private:
  void watch(const std::stop_token& done, std::optional<Seconds> time_limit);

  std::int32_t watcher_process_ = 0;  ///< 0: nobody watches
  std::stop_source stop_;
  std::atomic<int> first_signal_{0};
  std::atomic<bool> ignores_ = false;
  std::jthread watcher_;
};

/// "SIGTERM".
[[nodiscard]] std::string signal_name(int signal);

enum class SignalWords : std::uint8_t { spoken, silent };

/// From now until an Interruption takes them, SIGINT and SIGTERM end the process as ever, with a line that says so.
/// `silent`: for the ranks of a job of which another one speaks.
void say_signals_that_end(SignalWords words);

}  // namespace plumbline
