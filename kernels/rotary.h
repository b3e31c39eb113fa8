#pragma once
/// \file rotary.h: rotary positions in Llama's convention: element i of a head turns with element i + head_dim / 2.
///
/// Angle = position * frequency[i]; the position follows from the row's place, so context-parallel ranks pass theirs.
/// Frequencies are data (Llama 3 scales them); `rotary_frequencies` makes the plain ones. Backward turns back. Where
/// only the first features of a head turn (GPT-NeoX), they pair among themselves and the rest pass. Source: Su et al.,
/// arXiv:2104.09864, equation 34, with the pairs of Hugging Face's Llama and GPT-NeoX. Checked against: PyTorch
/// (tests/kernels/rotary_test.cpp), within 1e-6 of the largest element in fp32.

#include "kernels/tensor_view.h"

namespace plumbline {

enum class Rotation : std::uint8_t { forward, backward };

/// input, output [rows, heads * head_dim], frequencies [rotary_dim / 2] fp32; output may be input. Backward: pass the
/// gradients as input and output.
struct Rotary {
  ConstTensorView input;
  TensorView output;
  const float* frequencies = nullptr;
  std::int64_t head_dim = 0;
  std::int64_t rotary_dim = 0;  ///< features of a head that turn
  RowPlace place;
  Rotation turn = Rotation::forward;
};

/// frequencies[i] = base^(-2i / rotary_dim), i in [0, rotary_dim / 2). Computed on the host, whatever runs the kernel.
void rotary_frequencies(double base, std::int64_t rotary_dim, float* frequencies);

namespace reference {

void rotary(const Rotary& args);

}  // namespace reference
}  // namespace plumbline
