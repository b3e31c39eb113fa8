#pragma once
/// \file layered_layout.h: layers and places of a graph's nodes (block_picture.h says the model).
///
/// Checked against: tests/gui/pages/graph/block_picture_test.cpp.

#include <vector>

#include "gui/pages/graph/block_picture.h"

namespace plumbline::gui {

/// Fills layer and place of the nodes. An edge leads from an earlier node to a later one.
void lay_out(BlockPicture& picture);

}  // namespace plumbline::gui
