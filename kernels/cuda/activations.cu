// ReLU, GELU and SwiGLU. Every thread reads an element of all inputs before it writes, since outputs may be inputs.
#include <cmath>

#include "kernels/cuda/cuda_kernels.h"
#include "kernels/cuda/vectors.h"

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

template <int N>
__global__ void relu(ReluForward args) {
  for_each_element_group<N>(args.output.rows, args.output.columns,
                            [&](auto count, std::int64_t row, std::int64_t column) {
                              Numbers<count> x = load_numbers<count>(args.input, row, column);
                              for (int i = 0; i < count; ++i)
                                x.at[i] = x.at[i] < 0.0F ? 0.0F : x.at[i];  // a NaN stays one
                              store_numbers<count>(args.output, row, column, x);
                            });
}

template <int N>
__global__ void relu_gradient(ReluBackward args) {
  for_each_element_group<N>(args.input.rows, args.input.columns,
                            [&](auto count, std::int64_t row, std::int64_t column) {
                              Numbers<count> dy = load_numbers<count>(args.output_gradient, row, column);
                              const Numbers<count> x = load_numbers<count>(args.input, row, column);
                              for (int i = 0; i < count; ++i) dy.at[i] = x.at[i] > 0.0F ? dy.at[i] : 0.0F;
                              store_numbers<count>(args.input_gradient, row, column, dy);
                            });
}

template <int N>
__global__ void gelu(GeluForward args) {
  for_each_element_group<N>(args.output.rows, args.output.columns,
                            [&](auto count, std::int64_t row, std::int64_t column) {
                              Numbers<count> x = load_numbers<count>(args.input, row, column);
                              for (int i = 0; i < count; ++i) x.at[i] = gelu_of(x.at[i], args.form);
                              store_numbers<count>(args.output, row, column, x);
                            });
}

template <int N>
__global__ void gelu_gradient(GeluBackward args) {
  for_each_element_group<N>(args.input.rows, args.input.columns,
                            [&](auto count, std::int64_t row, std::int64_t column) {
                              Numbers<count> dy = load_numbers<count>(args.output_gradient, row, column);
                              const Numbers<count> x = load_numbers<count>(args.input, row, column);
                              for (int i = 0; i < count; ++i) dy.at[i] *= gelu_slope(x.at[i], args.form);
                              store_numbers<count>(args.input_gradient, row, column, dy);
                            });
}

template <int N>
__global__ void swiglu(SwigluForward args) {
  for_each_element_group<N>(args.output.rows, args.output.columns,
                            [&](auto count, std::int64_t row, std::int64_t column) {
                              Numbers<count> gate = load_numbers<count>(args.gate, row, column);
                              const Numbers<count> up = load_numbers<count>(args.up, row, column);
                              for (int i = 0; i < count; ++i) gate.at[i] = gate.at[i] * logistic(gate.at[i]) * up.at[i];
                              store_numbers<count>(args.output, row, column, gate);
                            });
}

template <int N>
__global__ void swiglu_gradient(SwigluBackward args) {
  for_each_element_group<N>(args.gate.rows, args.gate.columns, [&](auto count, std::int64_t row, std::int64_t column) {
    const Numbers<count> dy = load_numbers<count>(args.output_gradient, row, column);
    Numbers<count> gate = load_numbers<count>(args.gate, row, column);
    Numbers<count> up = load_numbers<count>(args.up, row, column);
    for (int i = 0; i < count; ++i) {
      const float s = logistic(gate.at[i]);
      const float of_gate = dy.at[i] * up.at[i] * s * (1.0F + gate.at[i] * (1.0F - s));
      up.at[i] = dy.at[i] * gate.at[i] * s;
      gate.at[i] = of_gate;
    }
    store_numbers<count>(args.gate_gradient, row, column, gate);
    store_numbers<count>(args.up_gradient, row, column, up);
  });
}

}  // namespace

void relu_forward(const ReluForward& args, cudaStream_t stream) {
  check_same_shape(args.input, args.output);
  const bool is_vector = takes_vectors(args.input, args.output);
  launch_elements("relu_forward", args.input.rows, args.input.columns, is_vector, stream, relu<vector_elements>,
                  relu<1>, args);
}

void relu_backward(const ReluBackward& args, cudaStream_t stream) {
  check_same_shape(args.input, args.output_gradient);
  check_same_shape(args.input, args.input_gradient);
  const bool is_vector = takes_vectors(args.output_gradient, args.input, args.input_gradient);
  launch_elements("relu_backward", args.input.rows, args.input.columns, is_vector, stream,
                  relu_gradient<vector_elements>, relu_gradient<1>, args);
}

void gelu_forward(const GeluForward& args, cudaStream_t stream) {
  check_same_shape(args.input, args.output);
  const bool is_vector = takes_vectors(args.input, args.output);
  launch_elements("gelu_forward", args.input.rows, args.input.columns, is_vector, stream, gelu<vector_elements>,
                  gelu<1>, args);
}

void gelu_backward(const GeluBackward& args, cudaStream_t stream) {
  check_same_shape(args.input, args.output_gradient);
  check_same_shape(args.input, args.input_gradient);
  const bool is_vector = takes_vectors(args.output_gradient, args.input, args.input_gradient);
  launch_elements("gelu_backward", args.input.rows, args.input.columns, is_vector, stream,
                  gelu_gradient<vector_elements>, gelu_gradient<1>, args);
}

void swiglu_forward(const SwigluForward& args, cudaStream_t stream) {
  check_same_shape(args.gate, args.up);
  check_same_shape(args.gate, args.output);
  const bool is_vector = takes_vectors(args.gate, args.up, args.output);
  launch_elements("swiglu_forward", args.gate.rows, args.gate.columns, is_vector, stream, swiglu<vector_elements>,
                  swiglu<1>, args);
}

void swiglu_backward(const SwigluBackward& args, cudaStream_t stream) {
  check_same_shape(args.output_gradient, args.gate);
  check_same_shape(args.output_gradient, args.up);
  check_same_shape(args.gate_gradient, args.up_gradient);
  const bool is_vector = takes_vectors(args.output_gradient, args.gate, args.up, args.gate_gradient, args.up_gradient);
  launch_elements("swiglu_backward", args.gate.rows, args.gate.columns, is_vector, stream,
                  swiglu_gradient<vector_elements>, swiglu_gradient<1>, args);
}

}  // namespace plumbline::cuda
