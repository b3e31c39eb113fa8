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
  bool signalled = false;
  while (!done.stop_requested()) {
    const int signal_number = sigtimedwait(&signals, nullptr, &wait);
    if (signal_number > 0 && signalled) ::_exit(128 + signal_number);
    if (signal_number > 0) {
      signalled = true;
      stop_.request_stop();
    }
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
    if (time_limit && elapsed.count() >= time_limit->value()) stop_.request_stop();
  }
}

}  // namespace plumbline
