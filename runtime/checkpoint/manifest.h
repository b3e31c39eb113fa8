#pragma once
/// \file manifest.h: which rank's file holds which part of which tensor, and of which run a checkpoint is.
///
/// Model: a tensor is cut into boxes (tensor parallelism), a box into ranges of its elements in row-major order (ZeRO);
/// each element is in exactly one slice. The file is `plumbline.checkpoint/1`.
/// Not modelled: replicas (one rank writes for all); checksums (sizes only).
/// Checked against: tests/runtime/checkpoint/checkpoint_test.cpp (holes, overlaps and limits, one by one).

#include "core/io/json.h"
#include "runtime/checkpoint/safetensors.h"

namespace plumbline {

/// Elements [first, first + count) of the box at `begin` of `shape`, in the file of `rank` under the tensor's name.
struct TensorSlice {
  std::int32_t rank = 0;
  std::vector<std::int64_t> begin;
  std::vector<std::int64_t> shape;
  std::int64_t first = 0;
  std::int64_t count = 0;
};

struct ShardedTensor {
  std::string name;
  StoredFormat format = StoredFormat::fp32;
  std::vector<std::int64_t> shape;
  std::vector<TensorSlice> slices;
};

struct CheckpointManifest {
  std::int64_t step = 0;
  std::int64_t seed = 0;
  std::string plan_fingerprint;
  std::vector<std::int64_t> file_bytes;  ///< of each rank's file
  std::vector<ShardedTensor> tensors;

  [[nodiscard]] std::int32_t ranks() const { return static_cast<std::int32_t>(file_bytes.size()); }
};

/// The whole of a tensor in one slice.
[[nodiscard]] ShardedTensor unsharded(std::string name, StoredFormat format, std::vector<std::int64_t> shape,
                                      std::int32_t rank);

/// The first fault as a sentence: a slice outside of its tensor or of the ranks, an element in two slices or in none.
[[nodiscard]] std::optional<std::string> manifest_fault(const CheckpointManifest& manifest);

[[nodiscard]] Json to_json(const CheckpointManifest& manifest);
/// Throws InputError, also for what manifest_fault finds.
[[nodiscard]] CheckpointManifest manifest_from_json(const JsonPlace& root);

}  // namespace plumbline
