#pragma once
/// \file onnx_network.h: an ONNX file as a network, and what it counts by itself.
///
/// Answers: parameters, forward FLOPs by class and bytes of activations of the file (work.h), and the Graph that
/// estimators price. The first dimension of the inputs is the batch: a symbol, or, where the file fixes it, that number
/// made a symbol again. Every other symbol must be bound ("file.onnx@sequence=512").
/// Training quantities (backward, what is kept) follow from rules of the Graph IR, not from the file.
/// Source: docs/decisions/0051-onnx-reader.md.
/// Not modelled: tensor and context parallelism (weights are not divided), causal masks, bodies of Loop and Scan.
/// Checked against: tests/reference/onnx_test.cpp (PyTorch's parameters and FLOPs, exact).

#include <string_view>

#include "models/description/network.h"
#include "models/import/onnx/reference.h"
#include "models/import/onnx/wire.h"
#include "models/import/onnx/work.h"

namespace plumbline {

struct OnnxSummary {
  std::string producer;
  std::int64_t opset = 0;
  std::int64_t nodes = 0;
  std::int64_t parameters = 0;
  std::int64_t batch = 1;   ///< samples that the work is of
  std::string bound_batch;  ///< the batch's symbol where the reference binds it
  onnx::Work work;
  Bytes kept{0};  ///< for the backward pass, by rule, of as many samples, in 16 bits
};

struct OnnxImport {
  Network network;
  OnnxSummary summary;
};
/// `source`: bytes that are anywhere. Throws InputError naming the file and the node or byte; EnvironmentError.
[[nodiscard]] OnnxImport import_onnx(onnx::ByteSource& source, const onnx::Reference& reference);
/// The file that a text names (reference.h).
[[nodiscard]] OnnxImport import_onnx_with_summary(std::string_view reference);
/// As estimators price it. Throws InputError also where the reference binds the batch, which every plan sets.
[[nodiscard]] Network import_onnx(std::string_view reference);

}  // namespace plumbline
