#include "kernels/adamw_8bit.h"

#include <vector>

#include "core/training/optimizer.h"
#include "tests/kernels/cuda/both_devices.h"

namespace plumbline::adamw_8bit_cuda_test {
namespace {

/// Moments of zero at first, in codes, on both devices.
struct Moments {
  explicit Moments(std::int64_t count) : memory(quantized_state_values(count), 0.0F), elements(count) {}
  [[nodiscard]] CodedMoment host() { return coded_moment(memory.host(), elements); }
  [[nodiscard]] CodedMoment device() const { return coded_moment(memory.device(), elements); }
  BothArray<float> memory;
  std::int64_t elements;
};

OptimizedParameter settings(const TensorView& p, const TensorView& m, const TensorView& g) {
  return {.parameter = p, .master = m, .gradient = g, .learning_rate = 0.01F, .weight_decay = 0.1F};
}

TEST_CASE("8-bit AdamW's steps over shards are the CPU's") {
  on_both([](cudaStream_t stream) {
    for (const std::int64_t count : {1, 256, 300, 5000}) {
      INFO(count);
      BothTensor weight = random_both(1, count, 1, NumberFormat::bf16);
      BothTensor master = random_both(1, count, 2);
      BothTensor gradient = random_both(1, count, 3);
      Moments first(count);
      Moments second(count);
      for (std::int64_t step = 1; step <= 3; ++step) {
        reference::adamw_8bit_step({.parameter = settings(weight.host(), master.host(), gradient.host()),
                                    .first_moment = first.host(),
                                    .second_moment = second.host(),
                                    .step = step});
        cuda::adamw_8bit_step({.parameter = settings(weight.device(), master.device(), gradient.device()),
                               .first_moment = first.device(),
                               .second_moment = second.device(),
                               .step = step},
                              stream);
        finish(stream);
      }
      CHECK(master.error() <= 1e-4);
      CHECK(weight.error() <= tolerance(NumberFormat::bf16));
    }
  });
}

}  // namespace
}  // namespace plumbline::adamw_8bit_cuda_test
