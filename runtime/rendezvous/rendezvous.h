#pragma once
/// \file rendezvous.h: where ranks that cannot speak yet leave a few bytes for each other.
///
/// Answers: the value of a key, once some rank has published it; whether a rank has failed, or its process has ended.
/// Model: a key is published once. Values are small (a library's unique id). Errors: CommunicationError for a value
/// that nobody publishes in time, or when a rank has failed first. Checked against: tests/runtime/rendezvous.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/base/errors.h"

namespace plumbline {

using Value = std::vector<std::byte>;

class Rendezvous {
 public:
  Rendezvous() = default;
  Rendezvous(const Rendezvous&) = delete;
  Rendezvous& operator=(const Rendezvous&) = delete;
  virtual ~Rendezvous() = default;

  /// Throws EnvironmentError where it was published before, or the place cannot be reached.
  virtual void publish(const std::string& key, const Value& value) = 0;
  /// None: not yet.
  [[nodiscard]] virtual std::optional<Value> find(const std::string& key) = 0;

  /// Asks until it is there. Throws CommunicationError after `deadline`, or when a rank has failed.
  [[nodiscard]] Value wait_for(const std::string& key, std::chrono::milliseconds deadline);
  /// For all ranks; the first stays.
  void report_failure(const std::string& text);
  [[nodiscard]] std::optional<std::string> failure();

  /// This process is `rank` of `ranks`: from here on the others learn when it ends without leaving. Once.
  virtual void join(std::int32_t /*rank*/, std::int32_t /*ranks*/) {}
  /// It ends as it should.
  virtual void leave() {}
  /// A rank that has joined and whose process has ended without leaving.
  [[nodiscard]] virtual std::optional<std::int32_t> lost() { return std::nullopt; }
  /// Before this process ends with a failure: returns when the others know it, or do not ask for so long.
  virtual void see_off(std::chrono::milliseconds /*most*/) {}
  /// Why this rank cannot go on: what another one reported, or that it is lost.
  [[nodiscard]] std::optional<std::string> trouble();
};

/// Between the threads of a process.
class LocalRendezvous : public Rendezvous {
 public:
  void publish(const std::string& key, const Value& value) override;
  [[nodiscard]] std::optional<Value> find(const std::string& key) override;

 private:
  std::mutex mutex_;
  std::map<std::string, Value> values_;
};

}  // namespace plumbline
