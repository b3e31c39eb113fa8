#include "runtime/cuda/device_messages.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <random>

#include "kernels/number_conversion.h"
#include "runtime/communication/reduce.h"
#include "runtime/cuda/cuda_device.h"
#include "runtime/cuda/current_lane.h"
#include "runtime/cuda/reduce_contributions.h"
#include "runtime/device/cpu_kernels.h"
#include "runtime/local/local_ranks.h"
#include "tests/catch.h"
#include "tests/cuda_on_cpu/control.h"

namespace plumbline {
namespace {

using Data = std::vector<std::byte>;

/// Bytes that are numbers of any size and sign, NaNs and infinities among them.
Data random_data(std::size_t size, unsigned seed) {
  std::mt19937 random(seed);
  Data data(size);
  for (std::byte& one : data) one = static_cast<std::byte>(random());
  return data;
}

/// Numbers near one, which sum to something.
Data random_numbers(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> near_one(-2, 2);
  std::vector<float> numbers(count);
  for (float& one : numbers) one = near_one(random);
  const auto bytes = std::as_bytes(std::span(numbers));
  return {bytes.begin(), bytes.end()};
}

/// Sums of whole buffers on the device.
Data reduced_on_device(const std::vector<Data>& contributions, ElementFormat format, Reduction reduction) {
  CudaDevice device(0, cpu_kernels());
  std::vector<DeviceMemory> memory;
  std::vector<std::span<const std::byte>> spans;
  const Bytes size(std::ssize(contributions.front()));
  for (const Data& one : contributions) {
    memory.push_back(device.reserve(size));
    device.upload(Stream::compute, memory.back().get(), one.data(), size);
    spans.emplace_back(memory.back().get(), one.size());
  }
  const std::span<std::byte> own(memory.front().get(), contributions.front().size());
  reduce_contributions(spans, own, format, reduction, current_stream());  // into the first one's place
  Data result(own.size());
  device.download(Stream::compute, result.data(), own.data(), size);
  device.finish_all();
  return result;
}

Data reduced_on_host(const std::vector<Data>& contributions, ElementFormat format, Reduction reduction) {
  const std::vector<std::span<const std::byte>> spans(contributions.begin(), contributions.end());
  Data result(contributions.front().size());
  reduce_in_order(spans, result, format, reduction);
  return result;
}

/// NaNs of any payload are the same: which operand's bits an addition keeps is the processor's choice.
bool are_equal(const Data& a, const Data& b, ElementFormat format) {
  const auto width = static_cast<std::size_t>(element_bytes(format));
  for (std::size_t i = 0; i < a.size(); i += width) {
    if (std::equal(a.begin() + static_cast<std::ptrdiff_t>(i), a.begin() + static_cast<std::ptrdiff_t>(i + width),
                   b.begin() + static_cast<std::ptrdiff_t>(i)))
      continue;
    const auto value = [&](const Data& data) {
      std::uint32_t bits = 0;
      std::memcpy(&bits, &data[i], width);
      if (format == ElementFormat::fp32) return std::bit_cast<float>(bits);
      return format == ElementFormat::bf16 ? from_bf16(static_cast<Bf16Bits>(bits))
                                           : from_fp16(static_cast<Fp16Bits>(bits));
    };
    if (!std::isnan(value(a)) || !std::isnan(value(b))) return false;
  }
  return true;
}

TEST_CASE("A reduction on the device has the bits of one on the host") {
  (void)cudaDeviceReset();
  for (const ElementFormat format : {ElementFormat::fp32, ElementFormat::bf16, ElementFormat::fp16})
    for (const Reduction reduction : {Reduction::sum, Reduction::maximum})
      for (const std::size_t ranks : {1U, 2U, 3U, 7U}) {
        std::vector<Data> contributions;
        for (unsigned rank = 0; rank < ranks; ++rank) contributions.push_back(random_data(4 * 777, rank + 1));
        CHECK(are_equal(reduced_on_device(contributions, format, reduction),
                        reduced_on_host(contributions, format, reduction), format));
      }
}

/// What a rank's collectives leave, and what they sent.
struct Outcome {
  std::vector<Data> data;
  std::int64_t sent = 0;
};

/// All collectives of four ranks in a row, on device memory or on the host's.
void communicate(World& world, ComputeDevice* device, Outcome& outcome) {
  constexpr std::size_t elements = 1000;
  const std::unique_ptr<Communicator> group = world.everyone("group");
  const auto rank = static_cast<std::size_t>(world.rank());
  Data data = random_numbers(elements, static_cast<unsigned>(rank) + 1);
  Data own(data.size() / 4);
  Data all(data.size());
  std::vector<DeviceMemory> memory;
  const auto place = [&](Data& of_host) -> std::span<std::byte> {
    if (device == nullptr) return of_host;
    const Bytes size(std::ssize(of_host));
    memory.push_back(device->reserve(size));
    device->upload(Stream::data, memory.back().get(), of_host.data(), size);
    return {memory.back().get(), of_host.size()};
  };
  const auto data_there = place(data), own_there = place(own), all_there = place(all);
  const std::vector<std::int64_t> counts{100, 0, 600, 300};
  const auto calls = [&] {
    group->all_reduce(data_there, ElementFormat::fp32, Reduction::sum);
    group->reduce_scatter(data_there, own_there, ElementFormat::bf16, Reduction::sum);
    group->all_gather(own_there, all_there, ElementFormat::fp32);
    group->all_reduce(data_there, ElementFormat::fp32, Reduction::maximum);
    const auto part = data_there.subspan(0, static_cast<std::size_t>(counts[rank] * 4));
    group->all_gather(part, all_there, counts, ElementFormat::fp32);
    group->reduce_scatter(all_there, part, counts, ElementFormat::fp32, Reduction::sum);
    group->broadcast(own_there, 2);
    const std::int32_t next = (world.rank() + 1) % 4, before = (world.rank() + 3) % 4;
    for (int message = 0; message < 3; ++message) group->send(data_there.first(400), next, 5);
    for (int message = 0; message < 3; ++message) group->receive(all_there.subspan(800, 400), before, 5);
    const std::vector<std::int64_t> equal(4, 250);
    group->all_to_all(data_there, equal, all_there, equal, ElementFormat::fp32);
    group->barrier();
  };
  if (device == nullptr)
    calls();
  else
    device->enqueue(Stream::data, calls);
  for (std::size_t i = 0; i < memory.size(); ++i) {
    Data& back = i == 0 ? data : i == 1 ? own : all;
    device->download(Stream::data, back.data(), memory[i].get(), Bytes(std::ssize(back)));
  }
  if (device != nullptr) device->finish_all();
  outcome.data = {data, own, all};
  for (const Bytes bytes : group->sent().bytes) outcome.sent += bytes.value();
}

std::vector<Outcome> outcomes(bool on_device) {
  std::vector<Outcome> all(4);
  run_local_ranks(4, [&](World& world) {
    std::unique_ptr<CudaDevice> device;
    if (on_device) device = std::make_unique<CudaDevice>(0, cpu_kernels());
    communicate(world, device.get(), all[static_cast<std::size_t>(world.rank())]);
  });
  return all;
}

TEST_CASE("Collectives of local ranks on a device have the bits and bytes of those on the host, in every order") {
  const std::vector<Outcome> host = outcomes(false);
  for (unsigned seed = 1; seed <= 20; ++seed) {
    (void)cudaDeviceReset();
    cuda_on_cpu::set_seed(seed);
    const std::vector<Outcome> device = outcomes(true);
    for (std::size_t rank = 0; rank < host.size(); ++rank) {
      CHECK(device[rank].data == host[rank].data);
      CHECK(device[rank].sent == host[rank].sent);
    }
  }
}

TEST_CASE("Memory of messages is used again once it is read") {
  (void)cudaDeviceReset();
  CudaDevice device(0, cpu_kernels());
  DeviceMessages messages;
  const DeviceMemory memory = device.reserve(Bytes(1024));
  for (int i = 0; i < 50; ++i) {
    Message message;
    messages.fill(message, {memory.get(), 1024});
    messages.copy(messages.content(message), {memory.get(), 1024});
    messages.done(message);
  }
  CHECK(messages.pieces() == 1);
  std::vector<Message> open(3);
  for (Message& message : open) messages.fill(message, {memory.get(), 512});
  CHECK(messages.pieces() == 3);
}

TEST_CASE("What a device sent, the host does not receive") {
  (void)cudaDeviceReset();
  CudaDevice device(0, cpu_kernels());
  DeviceMessages messages;
  const DeviceMemory memory = device.reserve(Bytes(8));
  Message message;
  messages.fill(message, {memory.get(), 8});
  CHECK_THROWS_AS(message_memory().content(message), InternalError);
  Message of_host{Collective::broadcast, 0, Data(8)};
  CHECK_THROWS_AS(messages.content(of_host), InternalError);
}

}  // namespace
}  // namespace plumbline
