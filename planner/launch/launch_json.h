#pragma once
/// \file launch_json.h: what a launcher needs of a plan beyond its strategy and layout ("plumbline.launch/1").
///
/// Answers: groups that the layout does not name, the executions of each pipeline stage, the shard of every parameter,
/// what ZeRO divides, number formats, the order of compute, gathers and reductions, and which tokens a rank reads. Its
/// size grows with the kinds of layers, the pipeline stages and their chunks, not with ranks, layers or micro-batches:
/// ranks follow by size and stride. docs/plan-file.md says how each is read.
/// Checked against: tests/integration/launcher_test.py (a program without anything of ours rebuilds what every rank of
/// a run held and did), tests/integration/schemas_test.py.

#include "core/io/json.h"
#include "planner/question/question.h"

namespace plumbline {

inline constexpr std::string_view launch_format = "plumbline.launch/1";

/// `network_config`: of Hugging Face, as JSON text; empty: there is none. The strategy is legal for the question.
[[nodiscard]] Json launch_json(const Question& question, const Strategy& strategy, const std::string& network_config);

}  // namespace plumbline
