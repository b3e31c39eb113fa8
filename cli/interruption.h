#pragma once
/// \file interruption.h: Ctrl-C and time limits as a stop token: what was found so far is not lost.

#include <optional>
#include <stop_token>
#include <thread>

#include "core/quantity/quantity.h"

namespace plumbline {

/// While it lives SIGINT and SIGTERM ask for a stop instead of ending the process; a second one ends it at once.
/// Make it before threads are started, so that they inherit the blocked signals.
class Interruption {
 public:
  explicit Interruption(std::optional<Seconds> time_limit);
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  [[nodiscard]] std::stop_token token() const { return stop_.get_token(); }
  [[nodiscard]] bool asked() const { return stop_.stop_requested(); }

 private:
  void watch(const std::stop_token& done, std::optional<Seconds> time_limit);

  std::stop_source stop_;
  std::jthread watcher_;
};

}  // namespace plumbline
