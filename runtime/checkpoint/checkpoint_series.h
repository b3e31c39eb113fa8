#pragma once
/// \file checkpoint_series.h: the checkpoints of one run, checked before it begins: what it goes on from and what it
/// means to write.
///
/// Model: one every so many steps and one after the last; nothing is removed meanwhile. The room for all of them is
/// asked for at once: a run that would fill the disk is refused, not ended half-way.
/// Source: space(2) of C++'s filesystem library. Not modelled: others that write to the same disk; quotas.
/// Checked against: tests/runtime/checkpoint/checkpoint_series_test.cpp.

#include <filesystem>

#include "core/quantity/quantity.h"
#include "runtime/checkpoint/checkpoint.h"

namespace plumbline {

struct CheckpointSeries {
  std::filesystem::path folder;
  std::int64_t first_step = 0;  ///< of the run; a checkpoint's number is that of the step that follows it
  std::int64_t steps = 1;       ///< of the run
  std::int64_t every = 0;       ///< steps between two; 0: one, after the last step

  [[nodiscard]] std::int64_t count() const;
  /// Whether the run writes the checkpoint of this number.
  [[nodiscard]] bool writes(std::int64_t number) const;
};

/// Makes the folder. Throws InputError when a checkpoint of the series is there already, EnvironmentError when the
/// folder cannot be written or has no room for all of `bytes_of_each`.
void require_room(const CheckpointSeries& series, Bytes bytes_of_each);
/// What that says of a disk with `free` bytes; none: they are enough.
[[nodiscard]] std::optional<std::string> missing_room(const CheckpointSeries& series, Bytes bytes_of_each, Bytes free);

/// Of the checkpoint that `path` means, without a look at its other files.
[[nodiscard]] CheckpointManifest manifest_to_resume(const std::filesystem::path& path);
/// The checkpoint that `path` means: one step's folder, or the latest in a folder of them. Throws InputError unless it
/// fits together.
[[nodiscard]] Checkpoint checkpoint_to_resume(const std::filesystem::path& path);

}  // namespace plumbline
