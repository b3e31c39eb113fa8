// What passes between pipeline stages: messages to other ranks, and copies for a stage on the same rank.
#include "runtime/execution/executor.h"

namespace plumbline {
namespace {

std::size_t at(std::int32_t index) { return static_cast<std::size_t>(index); }

}  // namespace

std::vector<BufferRef> Executor::copied_from(const BufferRef& received, const std::vector<TensorId>& tensors,
                                             std::int32_t execution) {
  check(received != nullptr && tensors.size() == 1, "one tensor crosses between stages");
  const Bytes bytes = local_bytes(block(execution).tensor(tensors.front()), env_.shard);
  BufferRef copy = env_.backend.bind(MemoryClass::working_buffers, bytes);
  check(received->bytes() >= bytes, "a receive buffer holds what crosses between stages");
  env_.device.copy(Stream::compute, copy->data(), received->data(), bytes);
  return {copy};
}

std::vector<BufferRef> Executor::parked(const std::vector<BufferRef>& made) {
  BufferRef copy = env_.backend.bind(MemoryClass::activations, made.front()->bytes());
  env_.device.copy(Stream::compute, copy->data(), made.front()->data(), copy->bytes());
  return {copy};
}

std::int32_t Executor::message_tag(const Action& action, std::int32_t receiving_stage) const {
  const std::int32_t direction = action.pass == Pass::forward ? 0 : 1;
  return (receiving_stage * 2 + direction) * plan_.program.shape.micro_batches + action.micro_batch;
}

std::span<const std::byte> Executor::padded(std::span<const std::byte> tensor, Bytes bytes) {
  const Bytes size(std::ssize(tensor));
  check(bytes >= size, "a message is as large as its tensor");
  if (bytes == size) return tensor;
  auto* const message = static_cast<std::byte*>(env_.backend.workspace(bytes).data);
  env_.device.copy(Stream::compute, message, tensor.data(), size);
  env_.device.fill(Stream::compute, message + size.value(), std::byte{0}, bytes - size);
  return {message, static_cast<std::size_t>(bytes.value())};
}

/// As many bytes as the action says; its tensor comes first.
void Executor::send(const Action& action) {
  const bool is_forward = action.pass == Pass::forward;
  const std::int32_t receiver = network_stage(action) + (is_forward ? 1 : -1);
  const auto& segments = rank_.chunks[at(action.chunk)];
  Transferred& from = is_forward ? activations_ : gradients_;
  const std::int32_t execution = is_forward ? segments.back().last : segments.front().first - 1;
  auto transferred = from.extract({execution, action.micro_batch});
  // Programs send gradients that nobody needs, where what comes before is frozen: zeros.
  check(!transferred.empty() || !is_forward, "what a stage sends was made");
  const std::span<std::byte> tensor =
      transferred.empty() ? std::span<std::byte>() : span_of(transferred.mapped().front());
  const std::span<const std::byte> message = padded(tensor, action.bytes);
  env_.communicate([=, &group = env_.groups[Axis::pipeline], to = action.peer, tag = message_tag(action, receiver)] {
    group.send(message, to, tag);
  });
}

void Executor::receive(const Action& action) {
  const BufferRef& buffer = action.pass == Pass::forward ? received_activation_ : received_gradient_;
  const Bytes bytes = plan_.program.ranks[at(action.peer)].actions[at(action.peer_action)].bytes;
  env_.communicate([message = span_of(buffer).first(static_cast<std::size_t>(bytes.value())), from = action.peer,
                    &group = env_.groups[Axis::pipeline],
                    tag = message_tag(action, network_stage(action))] { group.receive(message, from, tag); });
}

}  // namespace plumbline
