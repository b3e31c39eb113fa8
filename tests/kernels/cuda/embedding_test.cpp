#include "kernels/embedding.h"

#include "tests/kernels/cuda/both_devices.h"

namespace plumbline {
namespace {

std::vector<std::int32_t> tokens_of(std::int64_t count, std::int32_t vocabulary) {
  std::mt19937 random(5);
  std::vector<std::int32_t> tokens(static_cast<std::size_t>(count));
  for (std::int32_t& token : tokens) token = static_cast<std::int32_t>(random() % static_cast<unsigned>(vocabulary));
  return tokens;
}

void check_embedding(cudaStream_t stream, const Size& size, NumberFormat format, std::int64_t first_token) {
  BothArray<std::int32_t> tokens(tokens_of(size.rows, 13));
  BothTensor table = random_both(7, size.columns, 1, format, 2);
  BothTensor output = random_both(size.rows, size.columns, 2, format, 1);
  BothTensor gradient = random_both(7, size.columns, 3, format, 1);
  reference::embedding_forward({tokens.host(), table.host(), output.host(), first_token});
  cuda::embedding_forward({tokens.device(), table.device(), output.device(), first_token}, stream);
  reference::embedding_backward({tokens.host(), output.host(), gradient.host(), first_token});
  cuda::embedding_backward({tokens.device(), output.device(), gradient.device(), first_token}, stream);
  finish(stream);
  CHECK(output.is_same());
  CHECK(gradient.is_same());
}

TEST_CASE(
    "embeddings and their gradients are the CPU's bit for bit, with tokens that repeat and those of other ranks") {
  on_both([](cudaStream_t stream) {
    for (const Size& size : {Size{1, 1}, Size{67, 5}, Size{700, 3}, Size{20, 1100}})
      for (const NumberFormat format : float_formats)
        for (const std::int64_t first_token : {0, 6}) check_embedding(stream, size, format, first_token);
  });
}

void check_positions(cudaStream_t stream, const Size& size, NumberFormat format) {
  const RowPlace place{.per_sequence = 5, .first = 3, .whole_sequence = 8, .first_sequence = 0};
  BothTensor x = random_both(size.rows, size.columns, 1, format, 1);
  BothTensor table = random_both(8, size.columns, 2, format);
  BothTensor gradient = random_both(8, size.columns, 3, format, 2);
  reference::position_embedding_forward({x.host(), table.host(), x.host(), place});
  cuda::position_embedding_forward({x.device(), table.device(), x.device(), place}, stream);
  reference::position_embedding_backward({x.host(), gradient.host(), place});
  cuda::position_embedding_backward({x.device(), gradient.device(), place}, stream);
  finish(stream);
  CHECK(x.is_same());
  CHECK(gradient.is_same());
}

TEST_CASE("learned positions and their gradients are the CPU's bit for bit") {
  on_both([](cudaStream_t stream) {
    for (const Size& size : {Size{1, 1}, Size{4, 67}, Size{20, 3}, Size{10, 300}})
      for (const NumberFormat format : float_formats) check_positions(stream, size, format);
  });
}

TEST_CASE("a position outside of its table is refused before anything runs") {
  const cuda_on_cpu::TestDevice device;
  const cuda_on_cpu::TestStream stream;
  BothTensor x = random_both(4, 3, 1);
  BothTensor table = random_both(5, 3, 2);
  const RowPlace place{.per_sequence = 4, .first = 2, .whole_sequence = 8, .first_sequence = 0};
  CHECK_THROWS_AS(cuda::position_embedding_forward({x.device(), table.device(), x.device(), place}, stream),
                  InternalError);
}

}  // namespace
}  // namespace plumbline
