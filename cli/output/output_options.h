#pragma once
/// \file output_options.h: --json, --out and --stats, which most verbs share.

#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "cli/output/output_flag.h"
#include "core/io/json.h"

namespace CLI {
class App;
}

namespace plumbline {

class OutputOptions {
 public:
  void declare(CLI::App& app, const char* what_out_writes);
  [[nodiscard]] bool json() const { return json_; }
  [[nodiscard]] bool has_file() const { return static_cast<bool>(out_); }
  [[nodiscard]] Narration narration() const { return json_ ? Narration::silent : Narration::notes; }
  /// Before the work: that --out and the verb's own files can be written (output_flag.h).
  void require_writable(Terminal& terminal, const std::vector<const OutputFlag*>& own = {}) const;
  /// Writes the plan file where --out says, before anything is printed; the text is made only then, for the folder in
  /// which it will be.
  void write(const std::function<std::string(const std::filesystem::path& folder)>& plan_file,
             Terminal& terminal) const;
  /// Ends a phase of --stats.
  void lap(const std::string& phase);
  /// Prints what the phases took to standard error.
  void print_stats(Terminal& terminal) const;

 private:
  bool json_ = false;
  bool stats_ = false;
  OutputFlag out_{"--out", "plan"};
  std::chrono::steady_clock::time_point lap_begin_ = std::chrono::steady_clock::now();
  std::vector<std::pair<std::string, double>> laps_;
};

}  // namespace plumbline
