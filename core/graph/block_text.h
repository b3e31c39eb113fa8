#pragma once
/// \file block_text.h: kinds of blocks as words.

#include <string_view>

#include "core/graph/block.h"

namespace plumbline {

[[nodiscard]] inline std::string_view to_text(BlockKind kind) {
  switch (kind) {
    case BlockKind::input: return "input";
    case BlockKind::layer: return "layer";
    case BlockKind::output: return "output";
  }
  return "";
}

}  // namespace plumbline
