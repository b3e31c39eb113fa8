#pragma once
/// \file product_shapes_json.h: the shapes of matrix products of a device, in and out.
///
/// {"tiles": {"values": [{"m", "n", "rate"}, ..], "kind", "source"},
///  "splits": {"parts": [2, ..], "shortest_depth", "rate", "kind", "source"},
///  "alignments": {"values": [{"multiple", "factor"}, ..], "kind", "source"}, "head_alignments": {the same}}.
/// Multiples fall, and the last is 1.

#include "core/cost/product_shapes.h"
#include "core/io/json.h"

namespace plumbline {

/// Strict; throws InputError.
[[nodiscard]] ProductShapes product_shapes_from_json(const JsonPlace& place);
[[nodiscard]] Json product_shapes_json(const ProductShapes& shapes);

}  // namespace plumbline
