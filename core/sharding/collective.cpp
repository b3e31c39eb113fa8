#include "core/sharding/collective.h"

#include <algorithm>

namespace plumbline {
namespace {

/// ceil(bytes * (ranks - 1) / ranks) without overflow.
std::int64_t all_but_own(std::int64_t bytes, std::int64_t ranks) {
  return bytes / ranks * (ranks - 1) + (bytes % ranks * (ranks - 1) + ranks - 1) / ranks;
}

}  // namespace

Bytes wire_bytes(Collective kind, Bytes bytes, std::int32_t ranks) {
  if (ranks <= 1) return Bytes(0);
  constexpr std::int64_t most = Bytes::largest().value() / 2;  // twice it still fits
  const std::int64_t amount = std::clamp<std::int64_t>(bytes.value(), 0, most);
  switch (record_of(kind).volume) {
    case WireVolume::nothing: return Bytes(0);
    case WireVolume::all: return Bytes(amount);
    case WireVolume::all_but_own_part: return Bytes(all_but_own(amount, ranks));
    case WireVolume::all_but_own_part_twice: return Bytes(2 * all_but_own(amount, ranks));
  }
  return Bytes(0);
}

}  // namespace plumbline
