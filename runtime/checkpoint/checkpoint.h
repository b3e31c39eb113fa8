#pragma once
/// \file checkpoint.h: the state of a run in a folder: written whole or not at all, checked before it is used.
///
/// Model: FOLDER/step-00000042/ holds manifest.json and rank-00000.safetensors, ... It is filled under the name
/// step-00000042.partial and renamed last, so a process that is killed leaves the older checkpoints and perhaps a
/// partial one, which nobody reads and the next writing of that step removes.
/// Order of a writing: one rank `begin_checkpoint`; all meet; each rank `write_shard`; all meet; one rank
/// `commit_checkpoint`, with every rank's file size.
/// Not modelled: removal of old checkpoints; bits that rot (sizes are checked, contents not).
/// Checked against: tests/runtime/checkpoint/checkpoint_test.cpp (a process killed at any moment, a full disk).

#include "runtime/checkpoint/manifest.h"

namespace plumbline {

/// Throws InputError when this step is in the folder.
void require_absent(const std::filesystem::path& folder, std::int64_t step);
/// Makes the empty folder. Throws InputError when this step is there already, EnvironmentError when the disk fails.
void begin_checkpoint(const std::filesystem::path& folder, std::int64_t step);
/// Writes one rank's file; returns its size in bytes.
std::int64_t write_shard(const std::filesystem::path& folder, std::int64_t step, std::int32_t rank,
                         std::span<const TensorToWrite> tensors);
/// Checks the files against the manifest (InternalError), writes it and gives the checkpoint its name.
void commit_checkpoint(const std::filesystem::path& folder, const CheckpointManifest& manifest);

/// Of the complete checkpoints in a folder, in no order; none where there is no folder.
[[nodiscard]] std::vector<std::int64_t> checkpoint_steps(const std::filesystem::path& folder);
/// The complete checkpoint of the latest step, or none.
[[nodiscard]] std::optional<std::filesystem::path> latest_checkpoint(const std::filesystem::path& folder);

/// A complete checkpoint, all of whose headers have been read and compared with its manifest.
class Checkpoint {
 public:
  /// `path` is one step's folder. Throws InputError for whatever does not fit together, EnvironmentError for the disk.
  explicit Checkpoint(std::filesystem::path path);

  [[nodiscard]] const CheckpointManifest& manifest() const { return manifest_; }
  /// Throws InputError unless the checkpoint is of this plan, with words about what to do.
  void require_plan(const std::string& fingerprint) const;
  /// The tensor of this name, or null pointer.
  [[nodiscard]] const ShardedTensor* find(std::string_view name) const;
  /// One rank's slice as it was written; `to` has its size.
  void read_slice(const ShardedTensor& tensor, const TensorSlice& slice, std::span<std::byte> to) const;
  /// The whole tensor, put together from its slices; `to` has its size.
  void read_whole(const ShardedTensor& tensor, std::span<std::byte> to) const;

 private:
  void check_file(std::int32_t rank) const;

  std::filesystem::path path_;
  CheckpointManifest manifest_;
  std::vector<SafetensorsHeader> headers_;  ///< of each rank's file
};

}  // namespace plumbline
