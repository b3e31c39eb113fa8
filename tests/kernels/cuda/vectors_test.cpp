// Kernels that take eight elements at a time, where rows begin at multiples of 16 bytes: against the CPU's, with a tail
// of single elements, and in place. Other tests of this folder have rows that begin in between.
#include "kernels/cuda/vectors.h"

#include "tests/kernels/cuda/both_devices.h"

namespace plumbline::vectors_test {
namespace {

/// Whole eights, eights and a tail, several rounds of a block, only a tail.
constexpr Size sizes[] = {{3, 64}, {5, 13}, {2, 4107}, {3, 6}};
/// Rows lie so far apart that each begins at a multiple of 32 bytes.
std::int64_t gap_of(const Size& size) { return (8 - size.columns % 8) % 8 + 8; }

BothTensor tensor(const Size& size, std::uint32_t seed, NumberFormat format) {
  return random_both(size.rows, size.columns, seed, format, gap_of(size));
}

constexpr NumberFormat all_formats[] = {NumberFormat::fp32, NumberFormat::tf32,     NumberFormat::bf16,
                                        NumberFormat::fp16, NumberFormat::fp8_e4m3, NumberFormat::fp8_e5m2};

template <class Body>
void for_sizes_and_formats(Body body) {
  on_both([&](cudaStream_t stream) {
    for (const Size& size : sizes)
      for (const NumberFormat format : float_formats) body(stream, size, format);
  });
}

TEST_CASE("rows that begin at multiples of 16 bytes are taken by eights, others are not") {
  const cuda_on_cpu::TestDevice device;
  cuda_on_cpu::set_alignment(16);
  BothTensor x = random_both(3, 5, 1, NumberFormat::bf16, 3);
  CHECK(cuda::takes_vectors(x.device()));
  CHECK(cuda::takes_vectors(x.device(), ConstTensorView{}));
  CHECK(!cuda::takes_vectors(x.device().columns_from(1, 2)));
  BothTensor odd = random_both(3, 5, 1, NumberFormat::bf16);
  CHECK(!cuda::takes_vectors(x.device(), odd.device()));
  CHECK(cuda::takes_vectors(odd.device().rows_from(0, 1)));  // no second row
  BothTensor codes = random_both(3, 8, 1, NumberFormat::fp8_e4m3);
  CHECK(cuda::takes_vectors(codes.device()));
}

TEST_CASE("casts by eights are the CPU's bits between all formats, with scales, and leave gaps as they were") {
  on_both([](cudaStream_t stream) {
    for (const Size& size : sizes)
      for (const NumberFormat from : all_formats)
        for (const NumberFormat to : all_formats) {
          BothArray<float> scale(std::vector<float>{0.37F});
          BothTensor input = tensor(size, 1, from);
          BothTensor output = tensor(size, 2, to);
          input.set_scales(scale);
          output.set_scales(scale);
          REQUIRE(cuda::takes_vectors(input.device(), output.device()));
          reference::cast({input.host(), output.host()});
          cuda::cast({input.device(), output.device()}, stream);
          finish(stream);
          CHECK(output.is_same());
        }
  });
}

TEST_CASE("transposing casts by eights are the CPU's bits, of squares that are cut on either side") {
  on_both([](cudaStream_t stream) {
    for (const Size& size : {Size{64, 64}, Size{5, 13}, Size{70, 133}, Size{3, 6}})
      for (const NumberFormat from : all_formats)
        for (const NumberFormat to : {NumberFormat::fp32, NumberFormat::bf16, NumberFormat::fp8_e4m3}) {
          BothArray<float> scale(std::vector<float>{0.37F});
          BothTensor input = tensor(size, 1, from);
          BothTensor output = tensor({size.columns, size.rows}, 2, to);
          input.set_scales(scale);
          output.set_scales(scale);
          REQUIRE(cuda::takes_vectors(input.device(), output.device()));
          reference::transpose({input.host(), output.host()});
          cuda::transpose({input.device(), output.device()}, stream);
          finish(stream);
          CHECK(output.is_same());
        }
  });
}

TEST_CASE("rotary positions by eights turn as on the CPU, of whole heads and of a part, in place too") {
  for_sizes_and_formats([](cudaStream_t stream, const Size& size, NumberFormat format) {
    constexpr std::int64_t head = 24;
    const Size heads{size.rows, 3 * head};
    for (const std::int64_t turning : {std::int64_t{16}, std::int64_t{8}, std::int64_t{24}}) {
      BothArray<float> frequencies(turning / 2, 0.0F);
      rotary_frequencies(10000.0, turning, frequencies.host());
      frequencies = BothArray<float>(frequencies.on_host());
      BothTensor x = tensor(heads, 1, format);
      BothTensor y = tensor(heads, 2, format);
      const auto of = [&](const TensorView& from, const TensorView& to, const float* f) {
        return Rotary{from, to, f, head, turning, {2, 5, 11, 4}, Rotation::backward};
      };
      reference::rotary(of(x.host(), y.host(), frequencies.host()));
      reference::rotary(of(x.host(), x.host(), frequencies.host()));
      cuda::rotary(of(x.device(), y.device(), frequencies.device()), stream);
      cuda::rotary(of(x.device(), x.device(), frequencies.device()), stream);
      finish(stream);
      CHECK(x.error() <= tolerance(format));
      CHECK(y.error() <= tolerance(format));
    }
  });
}

TEST_CASE("dropout by eights draws the CPU's numbers, wherever draws of four begin, and keeps its mask") {
  for_sizes_and_formats([](cudaStream_t stream, const Size& size, NumberFormat format) {
    for (const std::int64_t first : {0, 3}) {
      const bool has_mask = size.columns % 8 == 0;
      BothTensor x = tensor(size, 1, format);
      BothTensor y = tensor(size, 2, format);
      BothTensor dx = tensor(size, 3, format);
      BothArray<std::uint8_t> mask(size.rows * size.columns, std::uint8_t{9});
      const auto of = [&](const TensorView& from, const TensorView& to, std::uint8_t* kept) {
        return ElementDropout{from,
                              to,
                              has_mask ? kept : nullptr,
                              {0.3F, {.seed = 0x123456789abcdefULL, .op = 17, .micro_batch = 3}},
                              {{2, 5, 11, 4}, first, 1001}};
      };
      reference::dropout_forward(of(x.host(), y.host(), mask.host()));
      cuda::dropout_forward(of(x.device(), y.device(), mask.device()), stream);
      reference::dropout_backward(of(x.host(), dx.host(), mask.host()));
      cuda::dropout_backward(of(x.device(), dx.device(), mask.device()), stream);
      finish(stream);
      CHECK(mask.is_same());
      CHECK(y.is_same());
      CHECK(dx.is_same());
    }
  });
}

TEST_CASE("sums, products with a factor, fills and ReLU by eights are the CPU's bits, in place too") {
  for_sizes_and_formats([](cudaStream_t stream, const Size& size, NumberFormat format) {
    BothTensor a = tensor(size, 1, format);
    BothTensor b = tensor(size, 2, NumberFormat::fp32);
    reference::add({a.host(), b.host(), a.host()});
    cuda::add({a.device(), b.device(), a.device()}, stream);
    reference::scale({a.host(), a.host(), 0.3F});
    cuda::scale({a.device(), a.device(), 0.3F}, stream);
    reference::relu_forward({a.host(), a.host()});
    cuda::relu_forward({a.device(), a.device()}, stream);
    reference::relu_backward({b.host(), a.host(), b.host()});
    cuda::relu_backward({b.device(), a.device(), b.device()}, stream);
    BothTensor filled = tensor(size, 3, format);
    reference::fill({filled.host(), 1.3F});
    cuda::fill({filled.device(), 1.3F}, stream);
    finish(stream);
    CHECK(a.is_same());
    CHECK(b.is_same());
    CHECK(filled.is_same());
  });
}

TEST_CASE("GELU and SwiGLU by eights are the CPU's") {
  for_sizes_and_formats([](cudaStream_t stream, const Size& size, NumberFormat format) {
    BothTensor x = tensor(size, 1, format);
    BothTensor up = tensor(size, 2, format);
    BothTensor y = tensor(size, 3, format);
    BothTensor z = tensor(size, 4, format);
    BothTensor dy = tensor(size, 5, format);
    reference::gelu_forward({x.host(), y.host(), Gelu::tanh});
    cuda::gelu_forward({x.device(), y.device(), Gelu::tanh}, stream);
    reference::gelu_backward({y.host(), x.host(), z.host(), Gelu::erf});
    cuda::gelu_backward({y.device(), x.device(), z.device(), Gelu::erf}, stream);
    finish(stream);
    CHECK(y.error() <= tolerance(format));
    CHECK(z.error() <= 4 * tolerance(format));
    reference::swiglu_forward({x.host(), up.host(), y.host()});
    cuda::swiglu_forward({x.device(), up.device(), y.device()}, stream);
    reference::swiglu_backward({dy.host(), x.host(), up.host(), x.host(), up.host()});
    cuda::swiglu_backward({dy.device(), x.device(), up.device(), x.device(), up.device()}, stream);
    finish(stream);
    for (BothTensor* tensor : {&y, &x, &up}) CHECK(tensor->error() <= tolerance(format));
  });
}

TEST_CASE("norms by eights are the CPU's, forward and backward") {
  for_sizes_and_formats([](cudaStream_t stream, const Size& size, NumberFormat format) {
    const Size one{1, size.columns};
    BothTensor x = tensor(size, 1, format);
    BothTensor w = tensor(one, 2, format);
    BothTensor b = tensor(one, 3, format);
    BothTensor y = tensor(size, 4, format);
    BothTensor dx = tensor(size, 5, format);
    BothTensor dw = tensor(one, 6, NumberFormat::fp32);
    BothArray<float> mean(size.rows, 0.0F);
    BothArray<float> root(size.rows, 0.0F);
    reference::rms_norm_forward({x.host(), w.host(), y.host(), root.host(), 1e-5F});
    cuda::rms_norm_forward({x.device(), w.device(), y.device(), root.device(), 1e-5F}, stream);
    reference::rms_norm_backward({y.host(), x.host(), w.host(), root.host(), dx.host(), dw.host(), Write::overwrite});
    cuda::rms_norm_backward(
        {y.device(), x.device(), w.device(), root.device(), dx.device(), dw.device(), Write::overwrite}, stream);
    finish(stream);
    for (BothTensor* tensor : {&y, &dx}) CHECK(tensor->error() <= 4 * tolerance(format));
    reference::layer_norm_forward({x.host(), w.host(), b.host(), y.host(), mean.host(), root.host(), 1e-5F});
    cuda::layer_norm_forward({x.device(), w.device(), b.device(), y.device(), mean.device(), root.device(), 1e-5F},
                             stream);
    reference::layer_norm_backward(
        {y.host(), x.host(), w.host(), mean.host(), root.host(), dx.host(), dw.host(), {}, Write::overwrite});
    cuda::layer_norm_backward({y.device(),
                               x.device(),
                               w.device(),
                               mean.device(),
                               root.device(),
                               dx.device(),
                               dw.device(),
                               {},
                               Write::overwrite},
                              stream);
    finish(stream);
    for (BothTensor* tensor : {&y, &dx}) CHECK(tensor->error() <= 4 * tolerance(format));
  });
}

TEST_CASE("cross-entropy by eights overwrites logits with gradients that are the CPU's") {
  for_sizes_and_formats([](cudaStream_t stream, const Size& size, NumberFormat format) {
    BothTensor logits = tensor(size, 1, format);
    std::vector<std::int32_t> of_rows(static_cast<std::size_t>(size.rows), 4);
    of_rows.back() = -1;
    BothArray<std::int32_t> targets(of_rows);
    BothArray<float> top(size.rows, 0.0F), sum(size.rows, 0.0F), target(size.rows, 0.0F);
    BothArray<CrossEntropyLoss> loss(1, CrossEntropyLoss{});
    const auto call = [&](auto of) {
      CrossEntropy args;
      args.logits = of(logits);
      args.targets = of(targets);
      args.maximum = of(top);
      args.sum = of(sum);
      args.target_logit = of(target);
      args.logit_gradient = of(logits);
      args.gradient_scale = 0.5F;
      return args;
    };
    const CrossEntropy host = call([](auto& both) { return both.host(); });
    const CrossEntropy device = call([](auto& both) { return both.device(); });
    reference::cross_entropy_local_maximum(host);
    reference::cross_entropy_local_sum(host);
    reference::cross_entropy_add(host, loss.host());
    cuda::cross_entropy_local_maximum(device, stream);
    cuda::cross_entropy_local_sum(device, stream);
    cuda::cross_entropy_add(device, loss.device(), stream);
    finish(stream);
    CHECK(top.is_same());
    CHECK(loss.on_device()[0].sum == Approx(loss.on_host()[0].sum).epsilon(1e-5));
    CHECK(loss.on_device()[0].tokens == size.rows - 1);
    CHECK(logits.error() <= tolerance(format));
  });
}

TEST_CASE("AdamW and SGD by eights are the CPU's, with and without master weights") {
  for_sizes_and_formats([](cudaStream_t stream, const Size& size, NumberFormat format) {
    for (const bool has_master : {false, true}) {
      BothTensor weight = tensor(size, 1, format);
      BothTensor master = tensor(size, 2, NumberFormat::fp32);
      BothTensor gradient = tensor(size, 3, format);
      BothTensor first = tensor(size, 4, NumberFormat::bf16);
      BothTensor second(size.rows, size.columns, NumberFormat::fp32,
                        std::vector<float>(static_cast<std::size_t>(size.rows * size.columns), 0.2F), gap_of(size));
      const auto of = [&](const TensorView& w, const TensorView& m, const TensorView& g) {
        return OptimizedParameter{.parameter = w,
                                  .master = has_master ? m : TensorView{},
                                  .gradient = g,
                                  .gradient_factor = 0.5F,
                                  .learning_rate = 0.01F,
                                  .weight_decay = 0.1F,
                                  .gradient_limit = 0.6F};
      };
      const OptimizedParameter host = of(weight.host(), master.host(), gradient.host());
      const OptimizedParameter device = of(weight.device(), master.device(), gradient.device());
      reference::adamw_step(
          {.parameter = host, .first_moment = first.host(), .second_moment = second.host(), .step = 7});
      cuda::adamw_step(
          {.parameter = device, .first_moment = first.device(), .second_moment = second.device(), .step = 7}, stream);
      reference::sgd_step({.parameter = host});
      cuda::sgd_step({.parameter = device}, stream);
      finish(stream);
      CHECK(weight.error() <= tolerance(format));
      CHECK(master.error() <= 1e-6);
      CHECK(first.error() <= tolerance(NumberFormat::bf16));
      CHECK(second.error() <= 1e-6);
    }
  });
}

}  // namespace
}  // namespace plumbline::vectors_test
