// ReLU, GELU and SwiGLU. Every thread reads an element of all inputs before it writes, since outputs may be inputs.
#include <cmath>

#include "kernels/cuda/cuda_kernels.h"
#include "kernels/cuda/elements.h"
#include "kernels/cuda/launch.h"

namespace plumbline::cuda {
namespace {

constexpr float root_2_over_pi = 0.7978845608028654F;
constexpr float cubic = 0.044715F;  // of the tanh form: Hendrycks and Gimpel, arXiv:1606.08415, section 2
constexpr float root_half = 0.70710678118654752F;
constexpr float inverse_root_2_pi = 0.3989422804014327F;

__device__ __forceinline__ float logistic(float x) { return 1.0F / (1.0F + expf(-x)); }

// (1 + tanh(u)) / 2 is the logistic function of 2u, which keeps its digits where tanh(u) is near -1.
__device__ __forceinline__ float tanh_share(float x) {
  return logistic(2.0F * root_2_over_pi * (x + cubic * x * x * x));
}

__device__ __forceinline__ float gelu_of(float x, Gelu form) {
  return x * (form == Gelu::tanh ? tanh_share(x) : 0.5F * erfcf(-x * root_half));
}

__device__ __forceinline__ float gelu_slope(float x, Gelu form) {
  if (form == Gelu::erf) return 0.5F * erfcf(-x * root_half) + x * inverse_root_2_pi * expf(-0.5F * x * x);
  const float s = tanh_share(x);
  const float bend = s * (1.0F - s);
  // Where s is 0 or 1 the second term is 0, but x^2 may have overflowed.
  return s + (bend == 0.0F ? 0.0F : 2.0F * x * bend * root_2_over_pi * (1.0F + 3.0F * cubic * x * x));
}

__global__ void relu(ReluForward args) {
  for_each_element(args.output.rows, args.output.columns, [&](std::int64_t row, std::int64_t column) {
    const float x = load(args.input, row, column);
    store(args.output, row, column, x < 0.0F ? 0.0F : x);  // a NaN stays one
  });
}

__global__ void relu_gradient(ReluBackward args) {
  for_each_element(args.input.rows, args.input.columns, [&](std::int64_t row, std::int64_t column) {
    const float dy = load(args.output_gradient, row, column);
    store(args.input_gradient, row, column, load(args.input, row, column) > 0.0F ? dy : 0.0F);
  });
}

__global__ void gelu(GeluForward args) {
  for_each_element(args.output.rows, args.output.columns, [&](std::int64_t row, std::int64_t column) {
    store(args.output, row, column, gelu_of(load(args.input, row, column), args.form));
  });
}

__global__ void gelu_gradient(GeluBackward args) {
  for_each_element(args.input.rows, args.input.columns, [&](std::int64_t row, std::int64_t column) {
    const float dy = load(args.output_gradient, row, column);
    store(args.input_gradient, row, column, dy * gelu_slope(load(args.input, row, column), args.form));
  });
}

__global__ void swiglu(SwigluForward args) {
  for_each_element(args.output.rows, args.output.columns, [&](std::int64_t row, std::int64_t column) {
    const float gate = load(args.gate, row, column);
    store(args.output, row, column, gate * logistic(gate) * load(args.up, row, column));
  });
}

__global__ void swiglu_gradient(SwigluBackward args) {
  for_each_element(args.gate.rows, args.gate.columns, [&](std::int64_t row, std::int64_t column) {
    const float dy = load(args.output_gradient, row, column);
    const float gate = load(args.gate, row, column);
    const float up = load(args.up, row, column);
    const float s = logistic(gate);
    store(args.gate_gradient, row, column, dy * up * s * (1.0F + gate * (1.0F - s)));
    store(args.up_gradient, row, column, dy * gate * s);
  });
}

}  // namespace

void relu_forward(const ReluForward& args, cudaStream_t stream) {
  check_same_shape(args.input, args.output);
  launch("relu_forward", element_shape(args.input.rows, args.input.columns), stream, relu, args);
}

void relu_backward(const ReluBackward& args, cudaStream_t stream) {
  check_same_shape(args.input, args.output_gradient);
  check_same_shape(args.input, args.input_gradient);
  launch("relu_backward", element_shape(args.input.rows, args.input.columns), stream, relu_gradient, args);
}

void gelu_forward(const GeluForward& args, cudaStream_t stream) {
  check_same_shape(args.input, args.output);
  launch("gelu_forward", element_shape(args.input.rows, args.input.columns), stream, gelu, args);
}

void gelu_backward(const GeluBackward& args, cudaStream_t stream) {
  check_same_shape(args.input, args.output_gradient);
  check_same_shape(args.input, args.input_gradient);
  launch("gelu_backward", element_shape(args.input.rows, args.input.columns), stream, gelu_gradient, args);
}

void swiglu_forward(const SwigluForward& args, cudaStream_t stream) {
  check_same_shape(args.gate, args.up);
  check_same_shape(args.gate, args.output);
  launch("swiglu_forward", element_shape(args.gate.rows, args.gate.columns), stream, swiglu, args);
}

void swiglu_backward(const SwigluBackward& args, cudaStream_t stream) {
  check_same_shape(args.output_gradient, args.gate);
  check_same_shape(args.output_gradient, args.up);
  check_same_shape(args.gate_gradient, args.up_gradient);
  launch("swiglu_backward", element_shape(args.gate.rows, args.gate.columns), stream, swiglu_gradient, args);
}

}  // namespace plumbline::cuda
