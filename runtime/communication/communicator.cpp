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

CallKind call_kind(Collective kind) {
  switch (kind) {
    case Collective::all_reduce: return CallKind::all_reduce;
    case Collective::all_gather: return CallKind::all_gather;
    case Collective::reduce_scatter: return CallKind::reduce_scatter;
    case Collective::all_to_all: return CallKind::all_to_all;
    case Collective::broadcast: return CallKind::broadcast;
    case Collective::send_receive: return CallKind::send_receive;
  }
  return CallKind::barrier;
}

std::string_view to_text(CallKind kind) {
  for (const Collective collective : all_collectives)
    if (call_kind(collective) == kind) return to_text(collective);
  return "barrier";
}

ElementRange owned_range(std::int64_t elements, std::int32_t ranks, std::int32_t index) {
  const std::int64_t part = elements / ranks;
  const std::int64_t longer = elements % ranks;
  return {index * part + std::min<std::int64_t>(index, longer), part + (index < longer ? 1 : 0)};
}

}  // namespace plumbline
