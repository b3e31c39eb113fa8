#include "runtime/cuda/cuda_device.h"

#include <cmath>

#include "core/quantity/text.h"
#include "runtime/cuda/current_lane.h"
#include "runtime/cuda/device_memory.h"

namespace plumbline {

std::int32_t require_cuda_devices() {
  int devices = 0;
  const cudaError_t error = cudaGetDeviceCount(&devices);
  if (error != cudaSuccess || devices < 1)
    throw CudaError("no GPU can be used: cudaGetDeviceCount: " +
                    std::string(error == cudaSuccess ? "there is none" : cudaGetErrorString(error)));
  return devices;
}

namespace {

/// Of the device that the thread has from here on.
CudaLanes lanes_of(std::int32_t ordinal) {
  const std::int32_t device = ordinal % require_cuda_devices();
  require(cudaSetDevice(device), "cudaSetDevice of " + std::to_string(device));
  return {};
}

}  // namespace

CudaDevice::CudaDevice(std::int32_t ordinal, const DeviceKernels& table) : kernels_(table), lanes_(lanes_of(ordinal)) {
  set_thread_stream(lanes_[Stream::compute].stream());
  account_ = std::make_shared<MemoryAccount>();
  set_thread_account(account_);
}

CudaDevice::~CudaDevice() {
  stop();
  if (thread_stream() == lanes_[Stream::compute].stream()) set_thread_stream(nullptr);
  if (thread_account() == account_) set_thread_account(nullptr);
}

DeviceMemory CudaDevice::reserve(Bytes bytes) { return reserve_device_memory(bytes, MemoryUse::tensors); }

void CudaDevice::enqueue(Stream lane, std::function<void()> work) {
  const CurrentStream stream(lanes_[lane].stream(), &times_);
  const MessageMemoryScope memory(messages_);
  work();
}

Mark CudaDevice::timed_mark(Stream lane) {
  const std::int64_t time = times_.record(lanes_[lane].stream());
  Mark passed = mark(lane);
  passed.time = time;
  return passed;
}

std::int64_t CudaDevice::elapsed_ns(const Mark& from, const Mark& to) const {
  for (const Mark& mark : {from, to}) times_.at(mark.time).synchronize();
  float milliseconds = 0;
  require(cudaEventElapsedTime(&milliseconds, times_.at(from.time).get(), times_.at(to.time).get()),
          "cudaEventElapsedTime");
  constexpr double nanoseconds = 1e6;  // in a millisecond
  return std::llround(static_cast<double>(milliseconds) * nanoseconds);
}

std::optional<TimedSpan> CudaDevice::taken_message() {
  const auto span = times_.take_message();
  if (!span) return std::nullopt;
  TimedSpan marks;
  marks.begin.time = span->begin;
  marks.end.time = span->end;
  return marks;
}

namespace {

void transfer(const CudaLane& stream, Stream lane, void* to, const void* from, Bytes bytes, cudaMemcpyKind kind) {
  if (bytes.value() == 0) return;
  require(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes.value()), kind, stream.stream()),
          "cudaMemcpyAsync of " + to_text(bytes) + " on lane " + std::string(to_text(lane)));
}

}  // namespace

void CudaDevice::copy(Stream lane, void* to, const void* from, Bytes bytes) {
  transfer(lanes_[lane], lane, to, from, bytes, cudaMemcpyDeviceToDevice);
}
void CudaDevice::download(Stream lane, void* to, const void* from, Bytes bytes) {
  transfer(lanes_[lane], lane, to, from, bytes, cudaMemcpyDeviceToHost);
}
void CudaDevice::fetch(Stream lane, void* to, const void* from, Bytes bytes) {
  transfer(lanes_[lane], lane, to, from, bytes, cudaMemcpyHostToDevice);
}

void CudaDevice::fill(Stream lane, void* to, std::byte value, Bytes bytes) {
  if (bytes.value() == 0) return;
  require(
      cudaMemsetAsync(to, std::to_integer<int>(value), static_cast<std::size_t>(bytes.value()), lanes_[lane].stream()),
      "cudaMemsetAsync of " + to_text(bytes) + " on lane " + std::string(to_text(lane)));
}

void CudaDevice::upload(Stream lane, void* to, const void* from, Bytes bytes) {
  if (bytes.value() > 0) staging_.upload(lanes_[lane].stream(), to, from, bytes);
}

void CudaDevice::wait(Stream lane, Mark mark) {
  // A stream runs its own work in order.
  if (mark.lane != lane && mark.work > 0) lanes_[mark.lane].hold_back(lanes_[lane].stream(), mark.work);
}

void CudaDevice::finish(Mark mark) {
  lanes_[mark.lane].finish(mark.work);
  run_thread_check();
}

/// Lanes are joined on the device, so that the host stands still once.
void CudaDevice::finish_in_turn(std::span<const Mark> marks, const std::function<void(std::size_t)>& before) {
  for (std::size_t i = 0; i < marks.size(); ++i) {
    before(i);
    finish(marks[i]);
  }
  finish_all();
}

void CudaDevice::finish_all() {
  for (std::size_t i = 0; i < stream_count; ++i)
    if (const auto lane = static_cast<Stream>(i); lane != Stream::compute) wait(Stream::compute, mark(lane));
  lanes_[Stream::compute].finish();
  run_thread_check();
}

void CudaDevice::stop() noexcept {
  for (const auto& lane : lanes_) (void)cudaStreamSynchronize(lane->stream());
}

}  // namespace plumbline
