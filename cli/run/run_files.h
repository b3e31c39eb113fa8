#pragma once
/// \file run_files.h: the files that `run` writes when it is done: the record, a trace, a picture of the loss, what
/// ranks hold, files of trackers.

#include <string>
#include <utility>
#include <vector>

#include "cli/flags/track_flag.h"
#include "cli/output/output_flag.h"
#include "cli/run/loss_view.h"
#include "core/measurement/run_record.h"
#include "core/plan/plan.h"

namespace plumbline {

class RunFiles {
 public:
  void declare(CLI::App& app);
  /// Throws InputError for flags that do not go together.
  void check() const;
  /// Throws InputError for what one process of a launch cannot write.
  void refuse_what_is_local() const;
  /// Before any work. Throws InputError for what cannot be written.
  void require_all_writable(StandardOutput use, Terminal& terminal) const;

  [[nodiscard]] bool describes_ranks() const { return bool(describe_); }
  /// Of the records that --beside names. Throws InputError where one cannot be read.
  [[nodiscard]] std::vector<LossCurve> other_curves() const;

  void write_descriptions(const std::function<std::string()>& text, Terminal& terminal, Narration narration) const {
    describe_.write(text, terminal, narration);
  }
  /// `curves`: drawn in the same picture.
  void write(const RunRecord& record, const Plan& plan, std::vector<LossCurve> curves, Terminal& terminal,
             Narration narration) const;
  /// What a run that was stopped has left: ("record", its name), ...
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> saved() const;

 private:
  OutputFlag record_{"--record", "record"};
  OutputFlag trace_{"--trace", "trace"};
  OutputFlag picture_{"--picture", "picture"};
  OutputFlag describe_{"--describe", "ranks"};
  TrackFlag track_;
  std::vector<std::string> beside_;
};

}  // namespace plumbline
