#pragma once
/// \file manifest.h: of which run a checkpoint is, and which files it has.
///
/// Model: the file is `plumbline.checkpoint/2`. It lists every other file of the checkpoint with size and checksum, and
/// ends with a checksum of all its own text before that. Tensors are not listed: the files' headers say what they hold.
/// Not modelled: who wrote it on how many ranks, as no file depends on that.
/// Checked against: tests/runtime/checkpoint/manifest_test.cpp (each byte damaged in turn), tests/fuzz.

#include <filesystem>

#include "runtime/checkpoint/durable_file.h"
#include "runtime/checkpoint/training_settings.h"
#include "runtime/training/early_stopping.h"
#include "runtime/training/loss_scale.h"

namespace plumbline {

struct StoredFile {
  std::string name;  ///< in the checkpoint's folder
  WrittenFile written;
};

/// What a run was trained on, as its flags said it.
struct StoredData {
  std::string file;    ///< empty: the sample text
  std::string format;  ///< of --data-format
};

struct CheckpointManifest {
  std::int64_t step = 0;     ///< that follows
  std::int64_t updates = 0;  ///< that the optimizer has taken
  LossScaleState loss_scale;
  EarlyStoppingState early_stopping;
  std::string plan_fingerprint;  ///< of the plan that wrote it; any plan of the same training may go on
  TrainingSettings settings;
  StoredData data;
  std::vector<StoredFile> files;
};

[[nodiscard]] Json to_json(const CheckpointManifest& manifest);
/// Throws InputError. The last checksum is not looked at.
[[nodiscard]] CheckpointManifest manifest_from_json(const JsonPlace& root);

/// The file's text, with its own checksum.
[[nodiscard]] std::string manifest_text(const CheckpointManifest& manifest);
/// Of such a text, which `source` names in messages. Throws InputError when it is not what was written.
[[nodiscard]] CheckpointManifest sealed_manifest(std::string_view text, const std::string& source);
/// Throws what `sealed_manifest` does, and EnvironmentError when the disk fails.
[[nodiscard]] CheckpointManifest read_manifest(const std::filesystem::path& path);

}  // namespace plumbline
