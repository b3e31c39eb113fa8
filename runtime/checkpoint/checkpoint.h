#pragma once
/// \file checkpoint.h: the state of a run in a folder: written whole or not at all, checked before it is used.
///
/// Model: FOLDER/step-00000042/ holds files of whole tensors and manifest.json. It is filled under the name
/// step-00000042.partial and renamed last, so a process that is killed leaves the older checkpoints and perhaps a
/// partial one, which nobody reads and the next run into that folder removes. A file's size and checksum are in the
/// manifest, which has a checksum of its own.
/// Order of a writing: one rank `begin_checkpoint`; all meet; files are written; all meet; one rank
/// `commit_checkpoint`, with what was written.
/// Not modelled: removal of old checkpoints; repair of what is damaged.
/// Checked against: tests/runtime/checkpoint/checkpoint_test.cpp (a process killed at any moment, a full disk, a
/// damaged byte anywhere).

#include <filesystem>
#include <map>
#include <optional>

#include "runtime/checkpoint/manifest.h"
#include "runtime/checkpoint/safetensors.h"

namespace plumbline {

/// Throws InputError when this step is in the folder.
void require_absent(const std::filesystem::path& folder, std::int64_t step);
/// Makes the empty folder that is to be filled, and returns its path. Throws InputError when this step is there
/// already, EnvironmentError when the disk fails.
std::filesystem::path begin_checkpoint(const std::filesystem::path& folder, std::int64_t step);
/// That folder, once it was begun.
[[nodiscard]] std::filesystem::path begun_checkpoint(const std::filesystem::path& folder, std::int64_t step);
/// Writes the manifest, checks the files against it (InternalError) and gives the checkpoint its name.
void commit_checkpoint(const std::filesystem::path& folder, const CheckpointManifest& manifest);
/// Removes what runs that were killed have left half-written. Throws EnvironmentError when the disk fails.
void remove_partial_checkpoints(const std::filesystem::path& folder);

/// Of the complete checkpoints in a folder, in no order; none where there is no folder.
[[nodiscard]] std::vector<std::int64_t> checkpoint_steps(const std::filesystem::path& folder);
/// The complete checkpoint of the latest step, or none.
[[nodiscard]] std::optional<std::filesystem::path> latest_checkpoint(const std::filesystem::path& folder);

/// A complete checkpoint, whose files have the sizes that its manifest says and whose headers have been read.
class Checkpoint {
 public:
  /// `path` is one step's folder. Throws InputError for whatever does not fit together, EnvironmentError for the disk.
  explicit Checkpoint(std::filesystem::path path);

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] const CheckpointManifest& manifest() const { return manifest_; }
  /// Reads the files `first`, `first` + `stride`, ... Throws InputError for one that is not what was written.
  void require_undamaged(std::size_t first = 0, std::size_t stride = 1) const;
  /// By name, the tensors of all files.
  [[nodiscard]] std::size_t tensors() const { return places_.size(); }
  /// The tensor of this name, or null pointer.
  [[nodiscard]] const StoredTensor* find(std::string_view name) const;
  /// The bytes of a tensor from `first` on that fill `to`.
  void read(std::string_view name, std::int64_t first, std::span<std::byte> to) const;

 private:
  struct Place {
    std::size_t file = 0;
    std::size_t tensor = 0;
  };
  void open(std::size_t file);

  std::filesystem::path path_;
  CheckpointManifest manifest_;
  std::vector<SafetensorsHeader> headers_;  ///< by file; empty for files of another kind
  std::map<std::string, Place, std::less<>> places_;
};

}  // namespace plumbline
