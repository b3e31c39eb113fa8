#pragma once
/// \file tracker.h: runs as files that experiment trackers read: TensorBoard, MLflow, Weights & Biases.
///
/// Model: each tracker is one function from a run to files below a folder; writing them is the caller's. Formats:
/// TensorBoard: one event file (TFRecord of Event messages; tensorflow/core/util/event.proto). MLflow: a file store,
/// one folder for each run (mlflow/store/tracking/file_store.py). Weights & Biases: the folder of a run that was made
/// offline, which `wandb sync` sends (a LevelDB log of Record messages; wandb/proto/wandb_internal.proto). Numbers that
/// are not finite are left out where a format has none. Not modelled: artifacts, histograms, system figures. Checked
/// against: tests/integration/tracking_test.py (readers that share nothing with this code); in development each
/// tracker's own reader, tests/data/tracking/check_trackers.py.

#include <string>
#include <string_view>
#include <vector>

#include "planner/track/tracked_run.h"

namespace plumbline {

struct TrackedFile {
  std::string path;  ///< below the tracker's folder
  std::string bytes;
  bool is_shared = false;  ///< by all runs of the folder: left alone where it is already there
};

struct Tracker {
  std::string_view name;   ///< "tensorboard"
  std::string_view opens;  ///< what shows a folder of it
  std::vector<TrackedFile> (*files)(const TrackedRun&);
};

/// Throws InputError under the name `where` for another name.
[[nodiscard]] const Tracker& tracker(std::string_view name, std::string_view where);

[[nodiscard]] std::vector<TrackedFile> tensorboard_files(const TrackedRun& run);
[[nodiscard]] std::vector<TrackedFile> mlflow_files(const TrackedRun& run);
[[nodiscard]] std::vector<TrackedFile> wandb_files(const TrackedRun& run);

}  // namespace plumbline
