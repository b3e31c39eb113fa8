#pragma once
/// \file config_keys.h: the keys of ds_config.json, DeepSpeed's configuration of an engine, in both directions.
///
/// Source: deepspeed/runtime of deepspeedai/DeepSpeed, the files that the rows name. Checked against:
/// tests/unit/planner/frameworks/deepspeed/launch_files_test.cpp, tests/data/launch/check_deepspeed.py.

#include <vector>

#include "planner/frameworks/launch/launch_key.h"

namespace plumbline {

/// The first of the releases that were read whose optimizer.type may be Muon.
inline constexpr std::string_view deepspeed_with_muon = "0.17.6";

[[nodiscard]] const std::vector<LaunchKey>& deepspeed_config_keys();

/// Whether reductions run beside the backward: overlap_comm, which is about ZeRO's alone and no pipeline's
/// (runtime/engine.py: _configure_zero_optimizer turns it off there; runtime/pipe/engine.py reduces at the end).
[[nodiscard]] bool deepspeed_overlaps(const LaunchSettings& settings);
/// The overlap of files that say none (zero/config.py: on for stage 3 alone), or say one that DeepSpeed does not keep.
/// Without it stage 3 gathers on the stream of its kernels (runtime/zero/parameter_offload.py: __allgather_stream).
void settle_deepspeed_overlap(LaunchSettings& settings);

/// The tree without what leaves a value to the script ("auto", of Hugging Face) and what says no more than DeepSpeed's
/// defaults: `usual` counts the latter. Old spellings ("bfloat16", "zero_optimization": true) become the present ones.
[[nodiscard]] Json essential_config(const Json& tree, std::int64_t& usual);

}  // namespace plumbline
