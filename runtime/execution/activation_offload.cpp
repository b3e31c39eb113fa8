#include "runtime/execution/activation_offload.h"

#include <algorithm>

namespace plumbline {

void ActivationOffload::copy_out(const Place& place, const BlockState& state) {
  std::vector<Copy>& copies = on_host_[place];
  check(copies.empty(), "what leaves is on the device");
  for (std::size_t b = 0; b < state.buffers.size(); ++b) {
    const BufferRef& buffer = state.buffers[b];
    if (buffer == nullptr || buffer->memory_class() != MemoryClass::activations) continue;
    const Copy& copy = copies.emplace_back(Copy{b, buffer->bytes(), buffer->size_from(), host_.take(buffer->bytes())});
    device_.download(Stream::copy, copy.memory, buffer->data(), copy.bytes);
    counted_.to_host += copy.bytes;
  }
  ++counted_.copies;
  counted_.most_on_host = std::max(counted_.most_on_host, counted_.to_host - counted_.from_host);
}

void ActivationOffload::leave(const Place& place, BlockState& state) {
  for (const Copy& copy : on_host_.at(place)) state.buffers[copy.buffer] = nullptr;
}

void ActivationOffload::copy_back(const Place& place, BlockState& state) {
  const auto copies = on_host_.extract(place);
  check(!copies.empty(), "what comes back has left");
  for (const Copy& copy : copies.mapped()) {
    BufferRef& buffer = state.buffers[copy.buffer];
    buffer = backend_.bind(MemoryClass::activations, copy.bytes, copy.size, Stream::copy);
    device_.fetch(Stream::copy, buffer->data(), copy.memory, copy.bytes);
    host_.give_back(copy.memory, copy.bytes);
    counted_.from_host += copy.bytes;
  }
}

}  // namespace plumbline
