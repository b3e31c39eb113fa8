#include "runtime/communication/communicator.h"

#include <algorithm>

namespace plumbline {

std::string_view to_text(ElementFormat format) {
  switch (format) {
    case ElementFormat::fp32: return "fp32";
    case ElementFormat::bf16: return "bf16";
    case ElementFormat::fp16: return "fp16";
    case ElementFormat::bytes: return "bytes";
  }
  return "";
}

std::int64_t element_bytes(ElementFormat format) {
  switch (format) {
    case ElementFormat::fp32: return 4;
    case ElementFormat::bf16:
    case ElementFormat::fp16: return 2;
    case ElementFormat::bytes: return 1;
  }
  return 1;
}

ElementRange owned_range(std::int64_t elements, std::int32_t ranks, std::int32_t index) {
  const std::int64_t part = elements / ranks;
  const std::int64_t longer = elements % ranks;
  return {index * part + std::min<std::int64_t>(index, longer), part + (index < longer ? 1 : 0)};
}

}  // namespace plumbline
