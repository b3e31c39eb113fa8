#include "core/sharding/collective.h"

#include <algorithm>

namespace plumbline {
namespace {

/// ceil(bytes * (ranks - 1) / ranks) without overflow.
std::int64_t all_but_own(std::int64_t bytes, std::int64_t ranks) {
  return bytes / ranks * (ranks - 1) + (bytes % ranks * (ranks - 1) + ranks - 1) / ranks;
}

}  // namespace

std::string_view to_text(Collective kind) {
  switch (kind) {
    case Collective::all_reduce: return "all-reduce";
    case Collective::all_gather: return "all-gather";
    case Collective::reduce_scatter: return "reduce-scatter";
    case Collective::all_to_all: return "all-to-all";
    case Collective::broadcast: return "broadcast";
    case Collective::send_receive: return "send-receive";
  }
  return "";
}

Bytes wire_bytes(Collective kind, Bytes bytes, std::int32_t ranks) {
  if (ranks <= 1) return Bytes(0);
  constexpr std::int64_t most = Bytes::largest().value() / 2;  // twice it still fits
  const std::int64_t amount = std::clamp<std::int64_t>(bytes.value(), 0, most);
  switch (kind) {
    case Collective::all_reduce: return Bytes(2 * all_but_own(amount, ranks));
    case Collective::all_gather:
    case Collective::reduce_scatter:
    case Collective::all_to_all: return Bytes(all_but_own(amount, ranks));
    case Collective::broadcast:
    case Collective::send_receive: return Bytes(amount);
  }
  return Bytes(0);
}

}  // namespace plumbline
