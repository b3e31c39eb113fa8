#pragma once
/// \file onnx_table.h: what an ONNX graph counts by itself, as a table.
///
/// Checked against: tests/unit/planner/present/onnx_table_test.cpp.

#include "models/import/onnx/onnx_network.h"
#include "planner/present/table.h"

namespace plumbline::present {

/// Forward FLOPs by class, bytes alive at once, bytes kept for a backward pass, unknown operators.
[[nodiscard]] Table onnx_table(const OnnxSummary& summary);

}  // namespace plumbline::present
