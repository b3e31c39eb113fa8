#include "runtime/execution/product_operands.h"

namespace plumbline {
namespace {

bool is_fp8(NumberFormat format) { return bits(format) == 8; }

}  // namespace

ConstTensorView ProductOperands::to_fp8(const ConstTensorView& operand, NumberFormat format, void* codes,
                                        float* scale) const {
  kernels_.fp8_scale({operand, format, scale});
  TensorView cast = dense_view(codes, format, operand.rows, operand.columns);
  cast.scale = scale;
  kernels_.cast({operand, cast});
  return cast;
}

void ProductOperands::keep(Place place, const ConstTensorView& weight, NumberFormat product) {
  const Bytes bytes = storage(weight.size(), product);
  Copies& copies = kept_[place];
  copies.as_it_lies = backend_.bind(MemoryClass::working_buffers, bytes);
  copies.transposed = backend_.bind(MemoryClass::working_buffers, bytes);
  copies.scale = static_cast<float*>(backend_.reserve(Bytes(sizeof(float))));
}

void ProductOperands::begin_step() {
  for (auto& [place, copies] : kept_) copies.is_fresh = false;
}

ConstTensorView ProductOperands::cast(const ConstTensorView& operand, NumberFormat product, ScratchUse use) {
  if (product == NumberFormat::tf32) {
    ConstTensorView rounded = operand;
    rounded.format = product;
    return rounded;
  }
  if (!is_fp8(product)) return operand;
  const NumberFormat format = use == ScratchUse::gradient ? NumberFormat::fp8_e5m2 : product;
  constexpr std::int64_t of_scale = 64;  // keeps codes aligned
  const Workspace memory = backend_.workspace(storage(operand.size(), format) + Bytes(of_scale), use);
  return to_fp8(operand, format, static_cast<std::byte*>(memory.data) + of_scale, static_cast<float*>(memory.data));
}

ProductOperands::Copies* ProductOperands::fresh(Place place, const ConstTensorView& weight, NumberFormat product) {
  const auto found = kept_.find(place);
  if (found == kept_.end()) return nullptr;
  Copies& copies = found->second;
  if (!copies.is_fresh) {
    const ConstTensorView codes = to_fp8(weight, product, copies.as_it_lies->data(), copies.scale);
    TensorView turned = dense_view(static_cast<void*>(copies.transposed->data()), product, weight.columns, weight.rows);
    turned.scale = copies.scale;
    kernels_.transpose({codes, turned});
    copies.is_fresh = true;
  }
  return &copies;
}

ConstTensorView ProductOperands::weight(Place place, const ConstTensorView& weight, NumberFormat product) {
  const Copies* copies = fresh(place, weight, product);
  if (copies == nullptr) return cast(weight, product, ScratchUse::weight);
  ConstTensorView view =
      dense_view(static_cast<const void*>(copies->as_it_lies->data()), product, weight.rows, weight.columns);
  view.scale = copies->scale;
  return view;
}

ProductOperands::Oriented ProductOperands::weight_of_gradient(Place place, const ConstTensorView& weight,
                                                              NumberFormat product) {
  const Copies* copies = fresh(place, weight, product);
  if (copies == nullptr) return {cast(weight, product, ScratchUse::weight), Transpose::no};
  ConstTensorView view =
      dense_view(static_cast<const void*>(copies->transposed->data()), product, weight.columns, weight.rows);
  view.scale = copies->scale;
  return {view, Transpose::yes};
}

}  // namespace plumbline
