#include "kernels/gated_activation.h"
#include "kernels/gelu.h"
#include "kernels/relu.h"
#include "kernels/rotary.h"
#include "tests/kernels/cuda/both_devices.h"

namespace plumbline {
namespace {

void check_relu(cudaStream_t stream, const Size& size, NumberFormat format) {
  BothTensor x = random_both(size.rows, size.columns, 1, format, 1);
  BothTensor y = random_both(size.rows, size.columns, 2, format);
  BothTensor dy = random_both(size.rows, size.columns, 3, format, 2);
  reference::relu_forward({x.host(), y.host()});
  cuda::relu_forward({x.device(), y.device()}, stream);
  reference::relu_backward({dy.host(), x.host(), dy.host()});
  cuda::relu_backward({dy.device(), x.device(), dy.device()}, stream);
  finish(stream);
  CHECK(y.is_same());
  CHECK(dy.is_same());
}

TEST_CASE("ReLU and its gradient in place are the CPU's bit for bit") {
  on_both([](cudaStream_t stream) {
    for (const Size& size : odd_sizes)
      for (const NumberFormat format : float_formats) check_relu(stream, size, format);
  });
}

void check_gelu(cudaStream_t stream, const Size& size, NumberFormat format, Gelu form) {
  BothTensor x = random_both(size.rows, size.columns, 1, format, 1);
  BothTensor y = random_both(size.rows, size.columns, 2, format);
  BothTensor dy = random_both(size.rows, size.columns, 3, format, 2);
  reference::gelu_forward({x.host(), y.host(), form});
  cuda::gelu_forward({x.device(), y.device(), form}, stream);
  reference::gelu_backward({dy.host(), x.host(), dy.host(), form});
  cuda::gelu_backward({dy.device(), x.device(), dy.device(), form}, stream);
  finish(stream);
  CHECK(y.error() <= tolerance(format));
  CHECK(dy.error() <= tolerance(format));
}

TEST_CASE("both forms of GELU and their gradients in place are the CPU's") {
  on_both([](cudaStream_t stream) {
    for (const Size& size : odd_sizes)
      for (const NumberFormat format : float_formats)
        for (const Gelu form : {Gelu::erf, Gelu::tanh}) check_gelu(stream, size, format, form);
  });
}

TEST_CASE("GELU of large numbers keeps its limits") {
  on_both([](cudaStream_t stream) {
    for (const Gelu form : {Gelu::erf, Gelu::tanh}) {
      const std::vector<float> values{-1e30F, -100.0F, -12.0F, 0.0F, 12.0F, 100.0F, 1e30F};
      BothTensor x(1, 7, NumberFormat::fp32, values);
      BothTensor slope(1, 7, NumberFormat::fp32, std::vector<float>(7, 1.0F));
      reference::gelu_backward({slope.host(), x.host(), slope.host(), form});
      cuda::gelu_backward({slope.device(), x.device(), slope.device(), form}, stream);
      finish(stream);
      CHECK(slope.error() <= 1e-6);
    }
  });
}

void check_swiglu(cudaStream_t stream, const Size& size, NumberFormat format) {
  BothTensor gate = random_both(size.rows, size.columns, 1, format, 1);
  BothTensor up = random_both(size.rows, size.columns, 2, format);
  BothTensor y = random_both(size.rows, size.columns, 3, format, 2);
  BothTensor dy = random_both(size.rows, size.columns, 4, format);
  reference::swiglu_forward({gate.host(), up.host(), y.host()});
  cuda::swiglu_forward({gate.device(), up.device(), y.device()}, stream);
  reference::swiglu_backward({dy.host(), gate.host(), up.host(), gate.host(), up.host()});
  cuda::swiglu_backward({dy.device(), gate.device(), up.device(), gate.device(), up.device()}, stream);
  finish(stream);
  CHECK(y.error() <= tolerance(format));
  CHECK(gate.error() <= tolerance(format));
  CHECK(up.error() <= tolerance(format));
}

TEST_CASE("SwiGLU and its gradients in place are the CPU's") {
  on_both([](cudaStream_t stream) {
    for (const Size& size : odd_sizes)
      for (const NumberFormat format : float_formats) check_swiglu(stream, size, format);
  });
}

struct Heads {
  std::int64_t count;
  std::int64_t width;
  std::int64_t turning;
};

void check_rotary(cudaStream_t stream, const Heads& heads, NumberFormat format, Rotation turn) {
  std::vector<float> frequencies(static_cast<std::size_t>(heads.turning / 2));
  rotary_frequencies(10000.0, heads.turning, frequencies.data());
  BothArray<float> both_frequencies(frequencies);
  BothTensor x = random_both(7, heads.count * heads.width, 1, format, 3);
  BothTensor y = random_both(7, heads.count * heads.width, 2, format);
  const RowPlace place{.per_sequence = 3, .first = 9000, .whole_sequence = 10000, .first_sequence = 0};
  Rotary args{x.host(), y.host(), both_frequencies.host(), heads.width, heads.turning, place, turn};
  reference::rotary(args);
  args.output = x.host();
  reference::rotary(args);
  Rotary on_device{x.device(), y.device(), both_frequencies.device(), heads.width, heads.turning, place, turn};
  cuda::rotary(on_device, stream);
  on_device.output = x.device();
  cuda::rotary(on_device, stream);
  finish(stream);
  CHECK(y.error() <= tolerance(format));
  CHECK(x.error() <= tolerance(format));
}

TEST_CASE("rotary positions turn as on the CPU, both ways, in place and of part of a head") {
  on_both([](cudaStream_t stream) {
    for (const Heads& heads : {Heads{1, 2, 2}, Heads{3, 6, 4}, Heads{2, 64, 64}})
      for (const NumberFormat format : float_formats)
        for (const Rotation turn : {Rotation::forward, Rotation::backward}) check_rotary(stream, heads, format, turn);
  });
}

}  // namespace
}  // namespace plumbline
