#pragma once
/// \file validate.h: measured runs against what this program predicts of them.
///
/// Each run is resolved and priced from its question alone (planner/validate/resolve.h); only then is the prediction
/// laid alongside what was measured. Runs of one question count once: the fastest of them, and of memory the largest
/// peak (a peak is what must fit). A run that its collector only partly knew (time, sequence, batch or a degree
/// inferred) or that contradicts its neighbours is predicted too and summarized apart. Runs of files that are held out
/// of every fit are told by `held_out`.
/// Not modelled: noise of a source; see summary.h for the statistics.

#include <string>
#include <vector>

#include "core/measurement/measured_run.h"
#include "core/plan/plan.h"
#include "planner/question/task.h"
#include "planner/validate/resolve.h"
#include "planner/validate/run_use.h"
#include "planner/validate/summary.h"

namespace plumbline {

struct RunOutcome {
  std::string id;
  std::string source;  ///< name of the run set
  RunKind kind = RunKind::time;
  RunTrust trust = RunTrust::trusted;
  PredictedPair pair;  ///< seconds, or bytes; of a fit run the bytes of the device
  bool measured_fits = true;
  bool predicted_fits = true;
  std::string device;
  std::string stack;
  std::string regime;    ///< what device and stack calibration rest on (core/cost/residuals.h)
  RunFeatures features;  ///< as calibrations look at it: what RunRanges::include takes
  std::string strategy;  ///< one line
  std::string section;   ///< the table or benchmark of its source
  std::int64_t devices = 0;
  bool held_out = false;  ///< of a file that no fit reads
  Trust confidence;       ///< what of the question lies outside of the runs behind its calibration
  std::string doubt;      ///< why it is doubtful
  std::vector<AssumedField> assumed;
  [[nodiscard]] bool is_right() const { return measured_fits == predicted_fits; }
};

struct SkippedRun {
  std::string id;
  std::string source;
  RunKind kind = RunKind::time;
  std::string reason;
};

struct Validation {
  std::vector<RunOutcome> runs;
  std::vector<SkippedRun> skipped;
  std::set<UnreadKey> unread;  ///< keys of the files that nobody read
  bool complete = true;        ///< false: it was stopped before the last run
};

/// Empty lists: everything.
struct ValidationFilter {
  std::vector<std::string> devices;  ///< as the runs' `hardware` or the catalogue spells them, in any case
  std::vector<std::string> sources;  ///< names of run sets
};

/// Whether two names are one in any case, as filters compare them.
[[nodiscard]] bool same_name(std::string_view a, std::string_view b);

/// Progress: phase "runs".
[[nodiscard]] Validation validate(const std::vector<RunSet>& sets, const RunResolver& resolver,
                                  const ValidationFilter& filter = {}, const Task& task = {});

struct FitSummary {
  std::int64_t n = 0;
  std::int64_t right = 0;
  std::int64_t doubtful = 0;  ///< alongside `n`: runs that contradict their neighbours
};
/// Runs that are known to have fitted because their time or memory was measured.
struct RanCount {
  std::int64_t n = 0;
  std::int64_t predicted_not_to = 0;
};
struct ValidationSummary {
  SeriesSummary time;
  SeriesSummary memory;
  FitSummary fit;
  SeriesSummary time_inferred;
  SeriesSummary time_doubtful;
  SeriesSummary memory_inferred;
  SeriesSummary memory_doubtful;
  RanCount ran;
  RanCount ran_doubtful;
};
/// Of one source; of all when it is empty.
[[nodiscard]] ValidationSummary summarize(const Validation& validation, const std::string& source = "");
/// The runs that no fit reads; and all others. Skipped runs and unread keys belong to neither.
[[nodiscard]] Validation held_out_part(const Validation& validation);
[[nodiscard]] Validation fitted_part(const Validation& validation);
/// The sources of predicted and skipped runs, sorted.
[[nodiscard]] std::vector<std::string> sources_of(const Validation& validation);

}  // namespace plumbline
