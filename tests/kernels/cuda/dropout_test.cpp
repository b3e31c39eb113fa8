#include "kernels/dropout.h"

#include "tests/kernels/cuda/both_devices.h"

namespace plumbline {
namespace {

ElementDropout dropout_of(const TensorView& input, const TensorView& output, std::uint8_t* mask, float probability) {
  return {.input = input,
          .output = output,
          .mask = mask,
          .draw = {probability, {.seed = 0x123456789abcdefULL, .op = 17, .micro_batch = 3}},
          .place = {.rows = {.per_sequence = 2, .first = 5, .whole_sequence = 11, .first_sequence = 4},
                    .first_column = 3,
                    .whole_columns = 1000}};
}

void check_dropout(cudaStream_t stream, const Size& size, NumberFormat format, float probability) {
  BothTensor x = random_both(size.rows, size.columns, 1, format, 1);
  BothTensor y = random_both(size.rows, size.columns, 2, format);
  BothTensor again = random_both(size.rows, size.columns, 3, format);
  BothTensor by_mask = random_both(size.rows, size.columns, 4, format);
  BothArray<std::uint8_t> mask(size.rows * size.columns, std::uint8_t{9});
  reference::dropout_forward(dropout_of(x.host(), y.host(), mask.host(), probability));
  cuda::dropout_forward(dropout_of(x.device(), y.device(), mask.device(), probability), stream);
  reference::dropout_backward(dropout_of(x.host(), again.host(), nullptr, probability));
  cuda::dropout_backward(dropout_of(x.device(), again.device(), nullptr, probability), stream);
  reference::dropout_backward(dropout_of(x.host(), by_mask.host(), mask.host(), probability));
  cuda::dropout_backward(dropout_of(x.device(), by_mask.device(), mask.device(), probability), stream);
  finish(stream);
  CHECK(mask.is_same());
  CHECK(y.is_same());
  CHECK(again.is_same());
  CHECK(by_mask.is_same());
}

TEST_CASE("dropout draws the CPU's numbers, for any slice of a tensor, and keeps or draws its mask again") {
  on_both([](cudaStream_t stream) {
    for (const Size& size : odd_sizes)
      for (const NumberFormat format : float_formats)
        for (const float probability : {0.0F, 0.1F, 0.75F}) check_dropout(stream, size, format, probability);
  });
}

}  // namespace
}  // namespace plumbline
