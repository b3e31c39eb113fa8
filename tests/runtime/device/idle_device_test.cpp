#include "runtime/device/idle_device.h"

#include <cstring>

#include "runtime/device/cpu_kernels.h"
#include "tests/catch.h"

namespace plumbline {
namespace {

using Words = std::array<std::uintptr_t, sizeof(DeviceKernels) / sizeof(std::uintptr_t)>;

Words words_of(const DeviceKernels& table) {
  Words words{};
  static_assert(sizeof words == sizeof table);
  std::memcpy(words.data(), &table, sizeof table);
  return words;
}

// Of the table's entries those that answer stay: a size for each of 16 kernels with scratch, that of Muon's products,
// and the name of who takes attention; the CPU has none of several tensors at once.
TEST_CASE("an idle device's table has the sizes of another one's and none of its kernels") {
  const IdleDevice device(cpu_kernels());
  const Words idle = words_of(device.kernels());
  const Words real = words_of(cpu_kernels());
  std::int64_t same = 0;
  for (std::size_t i = 0; i < idle.size(); ++i) same += idle[i] == real[i] ? 1 : 0;
  CHECK(same == 16 + 1 + 1 + 1);
  CHECK(device.kernels().matmul.workspace == cpu_kernels().matmul.workspace);
}

TEST_CASE("what an idle device reserves is there, zero and the same each time, and work leaves it so") {
  IdleDevice device(cpu_kernels());
  const DeviceMemory large = device.reserve(Bytes(4096));
  const DeviceMemory small = device.reserve(Bytes(8));
  CHECK(small == large);
  CHECK(large.get()[4095] == std::byte{0});
  device.fill(Stream::compute, large.get(), std::byte{1}, Bytes(4096));
  device.enqueue(Stream::data, [&] { *large = std::byte{1}; });
  device.finish_all();
  CHECK(*large == std::byte{0});
  const DeviceMemory larger = device.reserve(Bytes(8192));
  CHECK(larger != large);
  CHECK(device.mark(Stream::data).work == 0);
}

}  // namespace
}  // namespace plumbline
