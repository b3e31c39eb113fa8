#include "runtime/measure/device_timing.h"

#include <algorithm>
#include <chrono>

#include "runtime/measure/measured_tensor.h"

namespace plumbline {
namespace {

constexpr std::size_t fewest_device_runs = 5;
constexpr std::size_t most_device_runs = 30;
/// Two copies of this last a fifth of a millisecond at 3 TB/s: the host gives out some tens of calls meanwhile.
constexpr std::int64_t busy_bytes = std::int64_t{256} << 20;
constexpr std::int64_t block_elements = 1 << 18;

}  // namespace

DeviceTiming::DeviceTiming(ComputeDevice& device, Seconds budget) : device_(device), budget_(budget) {}

Seconds DeviceTiming::once(const std::function<void()>& call, int calls) {
  if (busy_ != nullptr)
    for (int i = 0; i < 2; ++i)
      device_.copy(Stream::compute, busy_.get(), busy_.get() + busy_bytes / 2, Bytes(busy_bytes / 2));
  const Mark begin = device_.timed_mark(Stream::compute);
  for (int i = 0; i < calls; ++i) call();
  const Mark end = device_.timed_mark(Stream::compute);
  device_.finish_all();
  const std::int64_t elapsed = device_.elapsed_ns(begin, end);
  device_.forget_times();
  return Seconds(std::max(1e-9 * static_cast<double>(elapsed), 1e-9) / calls);
}

Seconds DeviceTiming::median(const std::function<void()>& call, int calls) {
  if (busy_ == nullptr && budget_.value() > 0) busy_ = device_.reserve(Bytes(busy_bytes));
  (void)once(call, 1);
  std::vector<double> times;
  double spent = 0;
  while (times.size() < (budget_.value() > 0 ? most_device_runs : fewest_device_runs)) {
    times.push_back(once(call, calls).value());
    spent += times.back() * calls;
    if (times.size() >= fewest_device_runs && spent > budget_.value()) break;
  }
  const auto middle = times.begin() + std::ssize(times) / 2;
  std::nth_element(times.begin(), middle, times.end());
  return Seconds(*middle);
}

Seconds DeviceTiming::host_time(const std::function<void()>& call, int calls) {
  call();
  device_.finish_all();
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < calls; ++i) call();
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
  device_.finish_all();
  return Seconds(std::max(spent.count(), 1e-9) / calls);
}

DeviceMemory DeviceTiming::bytes(Bytes size) { return held_.emplace_back(device_.reserve(size)); }

TensorView DeviceTiming::tensor(NumberFormat format, std::int64_t rows, std::int64_t columns) {
  const std::int64_t elements = rows * columns;
  const Bytes size = storage(elements, format);
  std::byte* const data = bytes(size).get();
  MeasuredTensor block(format, 1, std::min(elements, block_elements));
  const Bytes block_size = storage(std::min(elements, block_elements), format);
  device_.upload(Stream::compute, data, block.view().data, block_size);
  for (Bytes done = block_size; done < size;) {
    const Bytes more = std::min(done, size - done);  // what is there, once more
    device_.copy(Stream::compute, data + done.value(), data, more);
    done += more;
  }
  device_.finish_all();
  return dense_view(data, format, rows, columns);
}

}  // namespace plumbline
