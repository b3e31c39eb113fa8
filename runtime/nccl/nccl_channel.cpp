#include "runtime/nccl/nccl_channel.h"

#include "runtime/cuda/current_lane.h"
#include "runtime/cuda/device_memory.h"
#include "runtime/cuda/timed_events.h"

namespace plumbline {
namespace {

constexpr int sender = 0;
constexpr int receiver = 1;

}  // namespace

NcclChannel::NcclChannel(std::shared_ptr<NcclComm> comm, Side side, NcclWatch& watch, const CallSite& site)
    : comm_(std::move(comm)), watch_(watch) {
  const DeviceMemory first = reserve_device_memory(Bytes(1), MemoryUse::communication);
  require(cudaMemsetAsync(first.get(), 0, 1, lane_.stream()), "cudaMemsetAsync of 1 B");
  if (side == Side::sends)
    send({first.get(), 1}, lane_.stream(), site);
  else
    receive({first.get(), 1}, lane_.stream(), site);
  lane_.finish();
  watch_.require_alive();
}

NcclChannel::Piece& NcclChannel::piece(std::size_t bytes) {
  Piece* best = nullptr;
  for (Piece& one : pieces_)
    if (one.size >= bytes && (best == nullptr || one.size < best->size) && one.sent.is_passed()) best = &one;
  if (best != nullptr) return *best;
  Piece& made = pieces_.emplace_back();
  made.memory = reserve_device_memory(Bytes(static_cast<std::int64_t>(bytes)), MemoryUse::communication);
  made.size = bytes;
  return made;
}

void NcclChannel::send(std::span<const std::byte> data, cudaStream_t stream, const CallSite& site) {
  Piece& copy = piece(data.size());
  require(cudaMemcpyAsync(copy.memory.get(), data.data(), data.size(), cudaMemcpyDefault, stream),
          "cudaMemcpyAsync of a message");
  copy.written.record(stream);
  copy.written.hold_back(lane_.stream());
  TimedEvents* const times = current_times();
  TimedEvents::Span span;
  if (times != nullptr) span.begin = times->record(lane_.stream());
  comm_->call("ncclSend", [&](nccl::Comm comm) {
    return nccl::api().send(copy.memory.get(), data.size(), nccl::DataType::uint8, receiver, comm, lane_.stream());
  });
  copy.sent.record(lane_.stream());
  if (times != nullptr) {
    span.end = times->record(lane_.stream());
    times->note_message(span);
  }
  watch_.given(site, lane_.stream());
}

void NcclChannel::receive(std::span<std::byte> data, cudaStream_t stream, const CallSite& site) {
  asked_.record(stream);
  asked_.hold_back(lane_.stream());
  comm_->call("ncclRecv", [&](nccl::Comm comm) {
    return nccl::api().recv(data.data(), data.size(), nccl::DataType::uint8, sender, comm, lane_.stream());
  });
  received_.record(lane_.stream());
  received_.hold_back(stream);
  watch_.given(site, lane_.stream());
}

}  // namespace plumbline
