#pragma once
/// \file rank_checkpoint.h: one rank's part in the checkpoints of a run: whole tensors are put together from the ranks
/// that hold their elements, and divided again, by any layout.
///
/// Model: a file is written by one rank. Every other one sends it what it answers for, tensor by tensor; all meet after
/// so many bytes, so that no rank holds more than that of what is on its way, and one tensor. A rank that resumes reads
/// of each tensor the span of bytes in which its own elements lie. Ranks share no memory for it and no file but those
/// of the checkpoint.
/// Source: the layouts of all ranks, which every rank can compute. Not modelled: writing while training goes on.
/// Checked against: tests/runtime/execution/resharding_test.cpp (files equal whatever the layout; any layout goes on).

#include <filesystem>

#include "runtime/checkpoint/checkpoint.h"
#include "runtime/execution/parameter_store.h"
#include "runtime/run/checkpoint_catalogue.h"

namespace plumbline {

/// Executions of the network that each chunk of a rank of the program holds, in the order of the network.
[[nodiscard]] std::vector<Chunk> executions_of(const RankProgram& rank);

class RankCheckpoint {
 public:
  RankCheckpoint(World& world, const TrainingJob& job, ParameterStore& parameters);

  /// All ranks call it; `manifest` has everything but the files.
  void write(const std::filesystem::path& folder, CheckpointManifest manifest);
  /// Throws InputError when the checkpoint is not of this network, optimizer or precision.
  void read(const Checkpoint& checkpoint) const;

 private:
  /// What a rank has of the parts of tensors.
  struct RankState {
    ParameterLayout layout;
    std::map<std::pair<std::string, StatePart>, StateRange> ranges;  ///< by parameter
  };
  [[nodiscard]] RankState answered_by(std::int32_t rank) const;
  const std::vector<RankState>& answered_by_all();
  WrittenFile write_file(const CheckpointFile& file, std::int32_t writer, const std::filesystem::path& path);
  /// What this rank answers for, in the order in which `collect` expects it.
  [[nodiscard]] std::vector<std::byte> packed_part(const CheckpointTensor& tensor) const;
  [[nodiscard]] std::vector<std::byte> collect(const CheckpointTensor& tensor);
  void read_tensor_of(const Checkpoint& checkpoint, const CheckpointTensor& tensor, const RankState& held) const;

  const TrainingJob& job_;
  ParameterStore& parameters_;
  std::unique_ptr<Communicator> everyone_;
  CheckpointCatalogue catalogue_;
  RankState own_;
  std::vector<RankState> of_all_;  ///< of a rank that writes
};

}  // namespace plumbline
