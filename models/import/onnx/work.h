#pragma once
/// \file work.h: forward FLOPs and bytes of an ONNX graph, operator by operator, as the file has them.
///
/// Model: a multiply-add is two FLOPs; products exactly (MatMul and Gemm 2mnk, convolution 2 x outputs x kernel x
/// channels of a group, attention 2 x scores x (query + value width), the full square); per element 1 FLOP of
/// elementwise work, 7 of norms, 5 of softmax, the kernel's size of pooling: rules of thumb that no time rests on.
/// Peak: bytes of activations alive at once, in the order of the file and the types of the file; views are free.
/// Not modelled: workspaces; what a runtime fuses.
/// Checked against: tests/reference/onnx_test.cpp (torch.utils.flop_counter, products exact by class).

#include <array>

#include "core/quantity/quantity.h"
#include "models/import/onnx/provenance.h"

namespace plumbline::onnx {

inline constexpr std::size_t operator_classes = 8;

struct UnknownOperator {
  std::string type;
  std::int64_t count = 0;
};

struct Work {
  std::array<Flops, operator_classes> flops{};  ///< by OperatorClass
  Bytes peak{0};                                ///< activations alive at once
  Bytes inputs_and_outputs{0};
  std::vector<UnknownOperator> unknown;  ///< by name
  [[nodiscard]] Flops of(OperatorClass c) const { return flops[static_cast<std::size_t>(c)]; }
  [[nodiscard]] Flops products() const {
    return of(OperatorClass::matmul) + of(OperatorClass::convolution) + of(OperatorClass::attention);
  }
};

[[nodiscard]] Work work_of(const FlatGraph& graph, const std::vector<Value>& values, const Provenance& p);
/// Of one node.
[[nodiscard]] Flops node_flops(const FlatGraph& graph, const FlatNode& node, const std::vector<Value>& values);

}  // namespace plumbline::onnx
