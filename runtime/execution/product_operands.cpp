#include "runtime/execution/product_operands.h"

namespace plumbline {
namespace {

bool is_fp8(NumberFormat format) { return bits(format) == 8; }

/// Behind so many scales codes are aligned.
Bytes scale_bytes(std::int64_t count) {
  constexpr std::int64_t alignment = 64;
  const auto bytes = count * static_cast<std::int64_t>(sizeof(float));
  return Bytes((bytes + alignment - 1) / alignment * alignment);
}

}  // namespace

ConstTensorView ProductOperands::to_fp8(const ConstTensorView& operand, NumberFormat format, void* codes, float* scale,
                                        ScaleOf of) const {
  kernels_.fp8_scale({operand, format, scale, of});
  TensorView cast = dense_view(codes, format, operand.rows, operand.columns);
  cast.scale = scale;
  cast.scale_of = of;
  kernels_.cast({operand, cast});
  return cast;
}

void ProductOperands::keep(Place place, const ConstTensorView& weight, NumberFormat product) {
  const Bytes bytes = storage(weight.size(), product);
  Copies& copies = kept_[place];
  copies.as_it_lies = backend_.bind(MemoryClass::working_buffers, bytes);
  copies.transposed = backend_.bind(MemoryClass::working_buffers, bytes);
  const std::int64_t scales = scaling_ == Fp8Scaling::row ? weight.rows + weight.columns : 1;
  copies.scale = static_cast<float*>(backend_.reserve(Bytes(scales * static_cast<std::int64_t>(sizeof(float)))));
}

void ProductOperands::begin_step() {
  for (auto& [place, copies] : kept_) copies.is_fresh = false;
}

ConstTensorView ProductOperands::cast(const ConstTensorView& operand, NumberFormat product, ScratchUse use,
                                      ScaleOf outer) {
  if (product == NumberFormat::tf32) {
    ConstTensorView rounded = operand;
    rounded.format = product;
    return rounded;
  }
  if (!is_fp8(product)) return operand;
  const NumberFormat format = use == ScratchUse::gradient ? NumberFormat::fp8_e5m2 : product;
  const ScaleOf of = scale_of(outer);
  const Bytes scales = scale_bytes(scale_count(of, operand.rows, operand.columns));
  const Workspace memory = backend_.workspace(storage(operand.size(), format) + scales, use);
  return to_fp8(operand, format, static_cast<std::byte*>(memory.data) + scales.value(),
                static_cast<float*>(memory.data), of);
}

ProductOperands::Copies* ProductOperands::fresh(Place place, const ConstTensorView& weight, NumberFormat product) {
  const auto found = kept_.find(place);
  if (found == kept_.end()) return nullptr;
  Copies& copies = found->second;
  if (!copies.is_fresh) {
    turn(weight, product, to_fp8(weight, product, copies.as_it_lies->data(), copies.scale, scale_of(ScaleOf::row)),
         copies);
    copies.is_fresh = true;
  }
  return &copies;
}

void ProductOperands::turn(const ConstTensorView& weight, NumberFormat product, const ConstTensorView& codes,
                           const Copies& copies) {
  TensorView turned = dense_view(static_cast<void*>(copies.transposed->data()), product, weight.columns, weight.rows);
  if (scaling_ == Fp8Scaling::tensor) {
    turned.scale = copies.scale;
    return kernels_.transpose({codes, turned});
  }
  // Other codes, as each column has its own scale. They are turned as they are: numbers of their own format.
  const Workspace memory = backend_.workspace(storage(weight.size(), product), ScratchUse::weight);
  ConstTensorView of_columns =
      to_fp8(weight, product, memory.data, copies.scale + weight.rows, scale_of(ScaleOf::column));
  of_columns.scale = nullptr;
  kernels_.transpose({of_columns, turned});
}

ConstTensorView ProductOperands::weight(Place place, const ConstTensorView& weight, NumberFormat product) {
  const Copies* copies = fresh(place, weight, product);
  if (copies == nullptr) return cast(weight, product, ScratchUse::weight, ScaleOf::row);
  ConstTensorView view =
      dense_view(static_cast<const void*>(copies->as_it_lies->data()), product, weight.rows, weight.columns);
  view.scale = copies->scale;
  view.scale_of = scale_of(ScaleOf::row);
  return view;
}

ProductOperands::Oriented ProductOperands::weight_of_gradient(Place place, const ConstTensorView& weight,
                                                              NumberFormat product) {
  const Copies* copies = fresh(place, weight, product);
  if (copies == nullptr) return {cast(weight, product, ScratchUse::weight, ScaleOf::column), Transpose::no};
  ConstTensorView view =
      dense_view(static_cast<const void*>(copies->transposed->data()), product, weight.columns, weight.rows);
  view.scale_of = scale_of(ScaleOf::row);
  view.scale = copies->scale + (scaling_ == Fp8Scaling::row ? weight.rows : 0);
  return {view, Transpose::yes};
}

}  // namespace plumbline
