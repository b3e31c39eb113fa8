#include "cli/interruption.h"

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <ctime>

namespace plumbline {
namespace {

sigset_t watched_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  return signals;
}

}  // namespace

Interruption::Interruption(std::optional<Seconds> time_limit) {
  const sigset_t signals = watched_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  watcher_ = std::jthread([this, time_limit](const std::stop_token& done) { watch(done, time_limit); });
}

Interruption::~Interruption() {
  watcher_.request_stop();
  watcher_.join();
  const sigset_t signals = watched_signals();
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
}

void Interruption::watch(const std::stop_token& done, std::optional<Seconds> time_limit) {
  const sigset_t signals = watched_signals();
  const auto begin = std::chrono::steady_clock::now();
  constexpr timespec wait{0, 20'000'000};
  constexpr std::chrono::milliseconds one_keystroke(300);  // some launchers send one Ctrl-C twice
  std::optional<std::chrono::steady_clock::time_point> first_signal;
  while (!done.stop_requested()) {
    const int signal_number = sigtimedwait(&signals, nullptr, &wait);
    const auto now = std::chrono::steady_clock::now();
    if (signal_number > 0 && first_signal && now - *first_signal > one_keystroke) ::_exit(128 + signal_number);
    if (signal_number > 0 && !first_signal) {
      first_signal = now;
      stop_.request_stop();
    }
    const std::chrono::duration<double> elapsed = now - begin;
    if (time_limit && elapsed.count() >= time_limit->value()) stop_.request_stop();
  }
}

}  // namespace plumbline
