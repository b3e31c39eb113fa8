#include "runtime/measure/measured_tensor.h"

#include <cstring>
#include <memory>

#include "kernels/number_conversion.h"

namespace plumbline {

MeasuredTensor::MeasuredTensor(NumberFormat format, std::int64_t rows, std::int64_t columns)
    : format_(format),
      rows_(rows),
      columns_(columns),
      data_(static_cast<std::size_t>(storage(rows * columns, format).value())) {
  std::uint32_t state = 12345;
  const std::size_t width = static_cast<std::size_t>(bits(format) / 8);
  for (std::size_t at = 0; at < data_.size(); at += width) {
    state = state * 1664525U + 1013904223U;  // Knuth, TAOCP volume 2, table 3.3.4-1, line 16
    const float value = static_cast<float>(state >> 8) * 0x1p-23F - 1.0F;
    const std::uint16_t half = format == NumberFormat::bf16 ? to_bf16(value) : to_fp16(value);
    std::memcpy(data_.data() + at, width == 4 ? static_cast<const void*>(&value) : &half, width);
  }
}

TensorView ColdTensors::next(std::int64_t rows, std::int64_t columns) {
  constexpr std::int64_t line = 64;  // elements: tensors begin where lines of the cache do
  const std::int64_t size = (rows * columns + line - 1) / line * line;
  if (begin_ + size > elements_) begin_ = 0;
  TensorView view = all_.view().columns_from(begin_, rows * columns);
  begin_ += size;
  view.rows = rows;
  view.columns = view.stride = columns;
  return view;
}

Workspace MeasuredWorkspace::view() {
  void* begin = data_.data();
  std::size_t space = data_.size();
  const std::size_t size = data_.size() - alignment;
  return {std::align(alignment, size, begin, space), Bytes(static_cast<std::int64_t>(size))};
}

}  // namespace plumbline
