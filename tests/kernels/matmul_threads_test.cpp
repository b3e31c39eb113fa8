// Ranks are threads that multiply at the same time: each must get the bits that it would get alone.
#include <thread>

#include "kernels/matmul.h"
#include "tests/catch.h"
#include "tests/kernel_tensor.h"

namespace plumbline {
namespace {

KernelTensor product(std::uint32_t seed) {
  const KernelTensor a = random_tensor(70, 130, seed);
  const KernelTensor b = random_tensor(130, 90, seed + 1);
  KernelTensor c(70, 90);
  reference::matmul({.a = a, .b = b, .c = c});
  return c;
}

TEST_CASE("Products on several threads have the bits of the same products on one") {
  constexpr std::uint32_t count = 4;
  std::vector<KernelTensor> together(count, KernelTensor(70, 90));
  std::vector<std::thread> threads;
  for (std::uint32_t i = 0; i < count; ++i)
    threads.emplace_back([&together, i] {
      for (int again = 0; again < 10; ++again) together[i] = product(10 * i);
    });
  for (std::thread& thread : threads) thread.join();
  for (std::uint32_t i = 0; i < count; ++i) CHECK(together[i].bytes() == product(10 * i).bytes());
}

}  // namespace
}  // namespace plumbline
