#pragma once
/// \file onnx_json.h: what an ONNX graph counts, as `plan models FILE.onnx --json` prints it; written only.
///
/// Checked against: tests/unit/models/io/onnx_json_test.cpp.

#include "core/io/json.h"
#include "models/import/onnx/onnx_network.h"

namespace plumbline {

/// The network's object (catalogue_json.h) and, under "onnx", opset, samples, forward FLOPs by class, activation bytes
/// and unknown operators.
[[nodiscard]] Json onnx_json(const OnnxImport& onnx);

}  // namespace plumbline
