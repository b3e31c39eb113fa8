#include "runtime/nccl/nccl_call.h"

#include "runtime/cuda/current_lane.h"

namespace plumbline {
namespace {

constexpr std::size_t alignment = 256;

std::size_t aligned(std::size_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

}  // namespace

NcclCommunicator::Call::Call(NcclCommunicator& owner, Collective kind, std::size_t room)
    : owner_(owner),
      site_{owner.set_.name, kind, owner.sequence_++},
      is_on_device_(is_in_lane_work()),
      stream_(is_on_device_ ? current_stream() : owner.shared_->host_lane.stream()) {
  NcclRank& shared = *owner_.shared_;
  shared.watch.require_alive();
  constexpr std::size_t most_operands = 3;
  const std::size_t needed = aligned(room) + most_operands * alignment;
  if (!is_on_device_) shared.reserve_scratch(needed);
}

std::byte* NcclCommunicator::Call::room_for(std::size_t bytes) {
  std::byte* const at = owner_.shared_->scratch.get() + used_;
  used_ += aligned(bytes);
  check(used_ <= owner_.shared_->scratch_size, "a call on the host's memory says how much it copies");
  return at;
}

const std::byte* NcclCommunicator::Call::input(std::span<const std::byte> data) {
  if (is_on_device_) return data.data();
  std::byte* const at = room_for(data.size());
  if (!data.empty())
    require(cudaMemcpyAsync(at, data.data(), data.size(), cudaMemcpyHostToDevice, stream_),
            "cudaMemcpyAsync of " + to_text(site_) + " to the device");
  return at;
}

std::byte* NcclCommunicator::Call::output(std::span<std::byte> data) {
  if (is_on_device_) return data.data();
  std::byte* const at = room_for(data.size());
  results_.push_back({data, at});
  return at;
}

std::byte* NcclCommunicator::Call::in_place(std::span<std::byte> data) {
  if (is_on_device_) return data.data();
  auto* const at = const_cast<std::byte*>(input(data));
  results_.push_back({data, at});
  return at;
}

void NcclCommunicator::Call::copy(const std::byte* from, std::byte* to, std::size_t bytes) const {
  if (bytes == 0 || from == to) return;
  require(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream_),
          "cudaMemcpyAsync of a rank's own part in " + to_text(site_));
}

void NcclCommunicator::Call::count(std::size_t bytes_sent) {
  const auto kind = static_cast<std::size_t>(site_.kind);
  ++owner_.sent_.calls[kind];
  owner_.sent_.bytes[kind] += Bytes(static_cast<std::int64_t>(bytes_sent));
}

void NcclCommunicator::Call::finish() {
  owner_.shared_->watch.given(site_, stream_);
  if (is_on_device_) return;
  for (const Result& result : results_)
    if (!result.to.empty())
      require(cudaMemcpyAsync(result.to.data(), result.from, result.to.size(), cudaMemcpyDeviceToHost, stream_),
              "cudaMemcpyAsync of " + to_text(site_) + " from the device");
  owner_.shared_->host_lane.finish();
  owner_.shared_->watch.require_alive();
}

}  // namespace plumbline
