#include "runtime/execution/chunk_gradients.h"

namespace plumbline {

void ChunkGradients::open(std::span<const std::int32_t> units) {
  if (units.empty() || hold(units.front())) return;
  const NumberFormat format = memory_.formats.gradient;
  std::int64_t elements = 0;
  for (const std::int32_t unit : units) {
    places_[static_cast<std::size_t>(unit)].first = bytes_of(elements, format);
    elements += memory_.layout.units[static_cast<std::size_t>(unit)].trained;
  }
  const BufferRef whole = memory_.backend.bind(MemoryClass::gathered_parameters, storage(elements, format));
  memory_.device.fill(Stream::compute, whole->data(), std::byte{0}, whole->bytes());
  for (const std::int32_t unit : units) places_[static_cast<std::size_t>(unit)].buffer = whole;
}

std::byte* ChunkGradients::data(std::int32_t unit) const {
  const Place& place = places_[static_cast<std::size_t>(unit)];
  return place.buffer->data() + place.first;
}

void ChunkGradients::release(std::span<const std::int32_t> units) {
  memory_.device.wait(Stream::compute, memory_.device.mark(Stream::data));
  for (const std::int32_t unit : units) places_[static_cast<std::size_t>(unit)].buffer = nullptr;
}

}  // namespace plumbline
