#include "cli/interruption.h"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <ctime>
#include <string_view>

namespace plumbline {
namespace {

constexpr std::array stop_signals{SIGINT, SIGTERM};

bool is_ignored(int signal) {
  struct sigaction action {};
  return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

sigset_t watched_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : stop_signals)
    if (!is_ignored(signal)) sigaddset(&signals, signal);
  return signals;
}

/// Also in signal handlers.
void say(std::string_view text) {
  if (::write(STDERR_FILENO, text.data(), text.size()) < 0) return;  // nobody is left to be told
}

void say_and_end(int signal) {
  say(signal == SIGINT ? "plan: ended by SIGINT\n" : "plan: ended by SIGTERM\n");
  ::signal(signal, SIG_DFL);  // the shell that waits learns which signal it was
  ::raise(signal);
}

}  // namespace

Interruption::Interruption(std::optional<Seconds> time_limit) : Interruption(time_limit, 0) {}

Interruption::Interruption(std::optional<Seconds> time_limit, std::int32_t watcher) : watcher_process_(watcher) {
  const sigset_t signals = watched_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  watcher_ = std::jthread([this, time_limit](const std::stop_token& done) { watch(done, time_limit); });
}

Interruption::~Interruption() {
  watcher_.request_stop();
  watcher_.join();
  const sigset_t signals = watched_signals();
  if (ignores_)
    for (const int signal : stop_signals) ::signal(signal, SIG_IGN);
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
}

void Interruption::watch(const std::stop_token& done, std::optional<Seconds> time_limit) {
  const sigset_t signals = watched_signals();
  const auto begin = std::chrono::steady_clock::now();
  constexpr timespec wait{0, 20'000'000};
  constexpr std::chrono::milliseconds one_keystroke(300);  // some launchers send one Ctrl-C twice
  // What the watcher hands on is counted apart.
  std::array<std::optional<std::chrono::steady_clock::time_point>, 2> first;
  while (!done.stop_requested()) {
    siginfo_t sent{};
    const int signal_number = sigtimedwait(&signals, &sent, &wait);
    const auto now = std::chrono::steady_clock::now();
    if (signal_number > 0 && !ignores_) {
      auto& first_signal = first[watcher_process_ != 0 && sent.si_pid == watcher_process_ ? 1 : 0];
      if (first_signal && now - *first_signal > one_keystroke) {
        say("plan: a second signal: ended at once\n");
        ::_exit(128 + signal_number);
      }
      if (!first_signal) first_signal = now;
      if (first_signal_ == 0) first_signal_ = signal_number;
      stop_.request_stop();
    }
    const std::chrono::duration<double> elapsed = now - begin;
    if (time_limit && elapsed.count() >= time_limit->value()) stop_.request_stop();
  }
}

std::string signal_name(int signal) { return signal == SIGINT ? "SIGINT" : "SIGTERM"; }

void say_signals_that_end(SignalWords words) {
  if (words == SignalWords::silent) return;
  for (const int signal : stop_signals)
    if (!is_ignored(signal)) ::signal(signal, say_and_end);
}

}  // namespace plumbline
