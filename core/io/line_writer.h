#pragma once
/// \file line_writer.h: lines that a thread writes to a descriptor, so that nobody waits for whoever reads them.
///
/// Model: lines wait in memory, up to a bound beyond which new ones are dropped and counted. Each is one write(2): a
/// pipe takes a line of up to PIPE_BUF bytes whole or not at all.
/// Source: write(2), pipe(7). Not modelled: the order of these lines and of what others write to the descriptor.
/// Checked against: tests/unit/core/io/line_writer_threads_test.cpp, tests/integration/faults_test.py.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>

namespace plumbline {

class LineWriter {
 public:
  static constexpr std::size_t most_waiting_bytes = std::size_t{64} << 20;  ///< 150 000 steps of plan run --json

  /// `name`: what messages call the descriptor, of which this makes a copy. Throws EnvironmentError where it cannot.
  LineWriter(int descriptor, std::string name, std::size_t most_waiting = most_waiting_bytes);
  /// Does not wait; lines that are not written by now are lost.
  ~LineWriter();
  LineWriter(const LineWriter&) = delete;
  LineWriter& operator=(const LineWriter&) = delete;

  /// Returns at once. Throws EnvironmentError when an earlier line could not be written.
  void write(std::string line);
  /// Waits until all lines are written. Once `is_stopping` is true it waits only while lines leave: half a second
  /// without one ends it.
  void finish(const std::function<bool()>& is_stopping);
  /// Lines that were dropped or are still waiting.
  [[nodiscard]] std::int64_t unwritten() const;
  /// Throws EnvironmentError unless every line was written.
  void require_written() const;

 private:
  struct Lines;

  std::string name_;
  std::shared_ptr<Lines> lines_;  ///< outlives this object where nobody reads what the thread writes
  std::thread thread_;
};

}  // namespace plumbline
