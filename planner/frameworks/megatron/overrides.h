#pragma once
/// \file overrides.h: Python lines "cfg.model.x = 2" as a tree of values, and back.
///
/// Understood: assignments to attributes of `cfg`, `config` or `self.cfg` and words "model.x=2" of a command line;
/// values None, True, False, numbers, strings, lists of those, and names of functions that are called without
/// arguments (bf16_mixed()). Not modelled: anything else of Python; other right-hand sides are unresolved.
/// Checked against: tests/unit/planner/frameworks/megatron/bridge_files_test.cpp.

#include <string>
#include <string_view>
#include <vector>

#include "core/io/json.h"

namespace plumbline::megatron {

struct Overrides {
  Json tree;                            ///< nested by the dots
  std::vector<std::string> unresolved;  ///< "cfg.train.global_batch_size: its value BATCH is not a literal"
};

/// Throws InputError (`name`) for a text over 1 MiB and where nothing is assigned.
[[nodiscard]] Overrides read_overrides(std::string_view text, std::string_view name);
/// "    cfg.model.x = 2\n" for each leaf.
[[nodiscard]] std::string overrides_text(const Json& tree);

}  // namespace plumbline::megatron
