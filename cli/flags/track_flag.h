#pragma once
/// \file track_flag.h: --track TRACKER:DIR, a run as files of experiment trackers (planner/track/tracker.h).

#include <string>
#include <vector>

#include "cli/output/output_flag.h"
#include "planner/track/tracker.h"

namespace CLI {
class App;
}

namespace plumbline {

/// When a run ended, since 1970, whose record is written now.
[[nodiscard]] Milliseconds time_now();
/// When a record was written that was read from a file.
[[nodiscard]] Milliseconds time_of_file(const std::string& name);

class TrackFlag {
 public:
  void declare(CLI::App& app);
  explicit operator bool() const { return !names_.empty(); }
  /// Throws InputError for another tracker, no folder, one that cannot be written. Before any work.
  void require_writable() const;
  /// With a warning that names the folder and what opens it.
  void write(const TrackedRun& run, Terminal& terminal, Narration narration) const;

 private:
  std::vector<std::string> names_;
};

}  // namespace plumbline
