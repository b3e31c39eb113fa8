#pragma once
/// \file element_views.h: elements of a flat buffer by number and format.

#include "kernels/tensor_view.h"
#include "runtime/execution/backend.h"

namespace plumbline {

[[nodiscard]] inline std::int64_t bytes_of(std::int64_t elements, NumberFormat format) {
  return storage(elements, format).value();
}
/// Where an element is.
[[nodiscard]] inline std::byte* at(const BufferRef& buffer, std::int64_t element, NumberFormat format) {
  return buffer->data() + bytes_of(element, format);
}
/// `count` elements in a row.
[[nodiscard]] inline TensorView row(std::byte* data, NumberFormat format, std::int64_t count) {
  return dense_view(data, format, 1, count);
}

}  // namespace plumbline
