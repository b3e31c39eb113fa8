#include "runtime/execution/stage_messages.h"

#include <algorithm>

#include "core/program/action_kinds.h"

namespace plumbline {
namespace {

std::size_t at(std::int32_t index) { return static_cast<std::size_t>(index); }

Bytes sent_to(const Program& program, const StageMessage& received) {
  return program.ranks[at(received.peer)].actions[at(received.peer_action)].bytes();
}

/// Room for the largest of what arrives from other ranks in one direction. Both have the size of what the later stage
/// reads.
BufferRef receive_buffer(const Program& program, const RankProgram& rank, Direction direction, Backend& backend) {
  Bytes largest(0);
  for (const Action& a : rank.actions)
    if (const StageMessage* received = received_by(a); received != nullptr && received->direction == direction)
      largest = std::max(largest, sent_to(program, *received));
  return largest.value() > 0 ? backend.bind(MemoryClass::communication_buffers, largest) : nullptr;
}

}  // namespace

StageMessages::StageMessages(const ExecutionPlan& plan, GroupCalls& calls, Backend& backend, ComputeDevice& device)
    : plan_(plan),
      calls_(calls),
      backend_(backend),
      device_(device),
      rank_stage_(calls.group(Axis::pipeline).index()),
      rank_(plan.program.ranks[at(rank_stage_)]),
      activation_(receive_buffer(plan.program, rank_, Direction::forward, backend)),
      gradient_(receive_buffer(plan.program, rank_, Direction::backward, backend)) {}

std::int32_t StageMessages::network_stage(const Action& a) const {
  return stage_of(plan_.program.placement, plan_.program.shape.pipeline_stages, rank_stage_, a.chunk);
}

bool StageMessages::ends_chunk(const Action& a) const {
  return a.segment() + 1 == std::ssize(rank_.chunks[at(a.chunk)]);
}

bool StageMessages::is_elsewhere(std::int32_t stage) const {
  return stage >= 0 && stage < plan_.program.shape.stages() &&
         rank_of_stage(plan_.program.placement, plan_.program.shape.pipeline_stages, stage) != rank_stage_;
}

BufferRef StageMessages::copied(const BufferRef& received, const Tensor& tensor) {
  check(received != nullptr, "what a stage reads has arrived");
  const Bytes bytes = local_bytes(tensor, shard_of(plan_.strategy, plan_.training));
  BufferRef copy = backend_.bind(MemoryClass::working_buffers, bytes);
  check(received->bytes() >= bytes, "a receive buffer holds what crosses between stages");
  device_.copy(Stream::compute, copy->data(), received->data(), bytes);
  return copy;
}

BufferRef StageMessages::parked(const BufferRef& made) {
  BufferRef copy = backend_.bind(MemoryClass::activations, made->bytes());
  device_.copy(Stream::compute, copy->data(), made->data(), copy->bytes());
  return copy;
}

std::int32_t StageMessages::tag(const Action& action, std::int32_t receiving_stage) const {
  const std::int32_t direction = action.pass() == Pass::forward ? 0 : 1;
  return (receiving_stage * plan_.program.shape.micro_batches + action.micro_batch) * 2 + direction;
}

std::span<const std::byte> StageMessages::padded(std::span<const std::byte> tensor, Bytes bytes) {
  const Bytes size(std::ssize(tensor));
  check(bytes >= size, "a message is as large as its tensor");
  if (bytes == size) return tensor;
  auto* const message = static_cast<std::byte*>(backend_.workspace(bytes).data);
  device_.copy(Stream::compute, message, tensor.data(), size);
  device_.fill(Stream::compute, message + size.value(), std::byte{0}, bytes - size);
  return {message, static_cast<std::size_t>(bytes.value())};
}

void StageMessages::send(const Action& action, const BufferRef& tensor) {
  const auto& sent = std::get<StageMessage>(action.what);
  const std::int32_t receiver = network_stage(action) + (sent.direction == Direction::forward ? 1 : -1);
  const std::span<const std::byte> message = padded(tensor ? span_of(tensor) : std::span<std::byte>(), sent.bytes);
  calls_.communicate([message, &group = calls_.group(Axis::pipeline), to = sent.peer, as = tag(action, receiver)] {
    group.send(message, to, as);
  });
}

void StageMessages::receive(const Action& action) {
  const auto& here = std::get<StageMessage>(action.what);
  const auto bytes = static_cast<std::size_t>(sent_to(plan_.program, here).value());
  calls_.communicate([message = span_of(received(here.pass())).first(bytes), from = here.peer,
                      &group = calls_.group(Axis::pipeline),
                      as = tag(action, network_stage(action))] { group.receive(message, from, as); });
}

}  // namespace plumbline
