#pragma once
/// \file product_operands.h: what a matrix product reads: its operands as they are stored, rounded to tf32, or in fp8.
///
/// Model: fp8 operands have one scale per tensor, from the largest magnitude of the tensor itself (current scaling), or
/// one for each row or column, whichever the product does not sum over, from its own; inputs and weights are e4m3,
/// gradients e5m2. A tensor that two products sum over differently is then cast for each. Of a weight that stays whole
/// on its rank, codes as it lies and codes of its transpose are kept for a step, as tensor cores read both operands
/// along the inner dimension. Everything else is cast into scratch, which no class of memory counts. Source:
/// Micikevicius et al., arXiv:2209.05433, sections 3 and 4; NVIDIA's Transformer Engine documentation, "FP8 primer"
/// (Float8CurrentScaling; columnwise copies). Not modelled: scales that ranks agree on; a history of maxima; inputs
/// kept in fp8 for the weight gradient. Checked against: tests/runtime/execution/fp8_test.cpp (PyTorch with the same
/// casts; bytes predicted).

#include <map>

#include "runtime/device/device_kernels.h"
#include "runtime/execution/backend.h"
#include "runtime/training/fp8_scaling.h"

namespace plumbline {

class ProductOperands {
 public:
  ProductOperands(Backend& backend, const DeviceKernels& kernels, Fp8Scaling scaling = Fp8Scaling::tensor)
      : backend_(backend), kernels_(kernels), scaling_(scaling) {}

  [[nodiscard]] Fp8Scaling scaling() const { return scaling_; }

  /// A weight of an execution of a block.
  using Place = std::pair<std::int32_t, std::int32_t>;
  /// Binds both copies of a weight of fp8 products.
  void keep(Place place, const ConstTensorView& weight, NumberFormat product);
  /// Weights have changed.
  void begin_step();

  /// Each as a product in `product` reads it, until the next call for the same use. `use`: input or gradient. `outer`:
  /// rows or columns, what the product does not sum over.
  [[nodiscard]] ConstTensorView cast(const ConstTensorView& operand, NumberFormat product, ScratchUse use,
                                     ScaleOf outer);
  [[nodiscard]] ConstTensorView weight(Place place, const ConstTensorView& weight, NumberFormat product);
  struct Oriented {
    ConstTensorView view;
    Transpose transpose = Transpose::no;
  };
  /// As the product with an output's gradient reads it.
  [[nodiscard]] Oriented weight_of_gradient(Place place, const ConstTensorView& weight, NumberFormat product);

 private:
  struct Copies {
    BufferRef as_it_lies;
    BufferRef transposed;
    float* scale = nullptr;  ///< in the device's memory; with scales of rows, those of rows, then those of columns
    bool is_fresh = false;
  };
  [[nodiscard]] Copies* fresh(Place place, const ConstTensorView& weight, NumberFormat product);

  void turn(const ConstTensorView& weight, NumberFormat product, const ConstTensorView& codes, const Copies& copies);
  /// What a scale is of, where `outer` is what a product does not sum over.
  [[nodiscard]] ScaleOf scale_of(ScaleOf outer) const { return scaling_ == Fp8Scaling::row ? outer : ScaleOf::tensor; }

  /// Codes at `codes`, their scales at `scale`.
  [[nodiscard]] ConstTensorView to_fp8(const ConstTensorView& operand, NumberFormat format, void* codes, float* scale,
                                       ScaleOf of) const;

  Backend& backend_;
  const DeviceKernels& kernels_;
  Fp8Scaling scaling_;
  std::map<Place, Copies> kept_;
};

}  // namespace plumbline
