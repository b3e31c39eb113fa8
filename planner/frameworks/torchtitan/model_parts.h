#pragma once
/// \file model_parts.h: which modules each pipeline chunk holds, as torchtitan names them, and its own split.
///
/// Source: torchtitan/distributed/pipeline_parallel.py at v0.2.2 (generate_llm_fqn_per_model_part,
/// pipeline_module_split). On main the output module is called lm_head.
/// Checked against: tests/unit/planner/frameworks/torchtitan/model_parts_test.cpp, with lists that the function
/// printed.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/io/json.h"

namespace plumbline::torchtitan {

/// [["tok_embeddings", "layers.0"], ["layers.1", "norm", "output"]] of layers {1, 1}.
[[nodiscard]] Json module_parts(const std::vector<std::int32_t>& layers, std::string_view output_module);
/// The way back. Throws InputError (what, expected) for other modules, layers out of order or ends at another place.
[[nodiscard]] std::vector<std::int32_t> layers_of(const Json& parts);

/// How torchtitan splits where the file says nothing: `first_less` and `last_less` are the layers that the embedding
/// and the output count for. Nothing where torchtitan refuses.
[[nodiscard]] std::optional<std::vector<std::int32_t>> own_split(std::int64_t layers, std::int64_t chunks,
                                                                 std::int64_t first_less, std::int64_t last_less);

}  // namespace plumbline::torchtitan
