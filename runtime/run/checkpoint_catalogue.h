#pragma once
/// \file checkpoint_catalogue.h: the tensors of a training's checkpoint and the files in which they are, whatever the
/// layout over ranks.
///
/// Model: weights under the names and shapes of the network's published files (models/published_tensors.h); master
/// copies and moments in the same shapes, under the weight's name and PyTorch's name of the state. Files of weights, of
/// adapters and of the optimizer's state each hold at most what transformers' save_pretrained puts into one by default.
/// Source: transformers, modeling_utils.py (max_shard_size 5GB); torch.optim (exp_avg, exp_avg_sq, momentum_buffer).
/// Checked against: tests/runtime/execution/resharding_test.cpp.

#include "models/published_tensors.h"
#include "runtime/checkpoint/safetensors.h"
#include "runtime/execution/state_parts.h"
#include "runtime/run/trainer.h"

namespace plumbline {

struct CheckpointTensor {
  TensorHeader header;
  StatePart part = StatePart::weight;
  std::vector<TensorPart> parameters;
};

struct CheckpointFile {
  std::string name;
  std::vector<CheckpointTensor> tensors;  ///< in the order of their data
};

struct CheckpointCatalogue {
  PublishedNetwork network;
  std::vector<CheckpointFile> files;

  [[nodiscard]] Bytes bytes() const;  ///< of all tensors
};

[[nodiscard]] CheckpointCatalogue checkpoint_catalogue(const TrainingJob& job);

/// A file that is no tensors: what other tools need alongside them.
struct TextFile {
  std::string name;
  std::string text;
};
/// config.json, the indices of what is in several files, PEFT's adapter_config.json.
[[nodiscard]] std::vector<TextFile> companions(const TrainingJob& job, const CheckpointCatalogue& catalogue);

}  // namespace plumbline
