#pragma once
/// \file read_model.h: an ONNX file as a value, without its weights.
///
/// Bytes of tensors are skipped, whatever their size, unless a tensor has so few numbers that it may be a shape; data
/// in files of its own is never opened. Limits: 256 MiB of structure, 200 000 nodes, 16 levels of subgraphs. Throws
/// InputError naming the byte or the node; EnvironmentError when the disk fails. Checked against:
/// tests/error/onnx_test.cpp, tests/fuzz/onnx_fuzz.cpp.

#include "models/import/onnx/model.h"
#include "models/import/onnx/wire.h"

namespace plumbline::onnx {

/// Elements up to which a tensor's numbers are read.
inline constexpr std::int64_t most_read_numbers = 4096;

[[nodiscard]] Model read_model(ByteSource& source);
/// The same with every call of a function of the file replaced by the function's nodes, and every If whose condition
/// is a constant by its branch. Throws InputError for functions that call themselves or grow beyond 500 000 nodes.
void inline_functions(Model& model, const std::string& where);

}  // namespace plumbline::onnx
