#pragma once
/// \file adamw_8bit.h: AdamW whose two moments lie in codes of one byte, with a scale for each block of 256 elements.
///
/// A moment is book[code] * largest, where `largest` is the largest magnitude of its block and the book has 256
/// numbers: for each power of ten from 10^-6 to 1 twice as many as for the one below, between 0.1 and 1 times it, and 0
/// and 1; of both signs for the first moment (no -1), positive for the second. A step reads a block's moments, updates
/// them and the weight as adamw.h does, in fp32, and stores the nearest codes. Memory of zeros stands for moments of
/// zero. Source: Dettmers et al., "8-bit Optimizers via Block-wise Quantization", arXiv:2110.02861, section 2;
/// bitsandbytes 0.50, functional.py: create_dynamic_map, optim/optimizer.py: Optimizer2State. Not modelled:
/// bitsandbytes' CUDA kernel moves codes whose sign is lost by one. Checked against: bitsandbytes on the CPU
/// (tests/kernels/adamw_8bit_test.cpp): books to the last digit, four steps of weights within 1e-5.

#include <algorithm>
#include <array>
#include <cstdint>

#include "kernels/optimizer_state.h"

namespace plumbline {

/// In ascending order.
using CodeBook = std::array<float, 256>;

enum class MomentSigns : std::uint8_t { both, positive };

/// Bit for bit as torch.linspace and its means make it.
[[nodiscard]] constexpr CodeBook dynamic_code_book(MomentSigns signs) {
  constexpr std::array powers{1e-6F, 1e-5F, 1e-4F, 1e-3F, 1e-2F, 1e-1F, 1.0F};
  CodeBook book{};
  std::size_t filled = 0;
  for (std::size_t power = 0; power < powers.size(); ++power) {
    const int means = 1 << (signs == MomentSigns::both ? power : power + 1);
    const float step = (1.0F - 0.1F) / static_cast<float>(means);
    // Rounded once, as fused multiply-adds are.
    const auto boundary = [&](int i) {
      return static_cast<float>(i < (means + 1) / 2 ? double{0.1F} + double{step} * i
                                                    : 1.0 - double{step} * (means - i));
    };
    for (int i = 0; i < means; ++i) {
      const float mean = powers[power] * ((boundary(i) + boundary(i + 1)) / 2.0F);
      book[filled++] = mean;
      if (signs == MomentSigns::both) book[filled++] = -mean;
    }
  }
  book[filled++] = 0.0F;
  book[filled] = 1.0F;
  std::sort(book.begin(), book.end());
  return book;
}

/// Elements that share a scale.
inline constexpr std::int64_t moment_block = 256;

/// One moment of a range of elements: a scale for each block, then the codes.
struct CodedMoment {
  float* largest = nullptr;
  std::uint8_t* codes = nullptr;
};
/// In memory of moment_block / 4 + 1 values for each block (core/training/optimizer.h: quantized_state_values).
[[nodiscard]] inline CodedMoment coded_moment(float* memory, std::int64_t count) {
  return {memory, reinterpret_cast<std::uint8_t*>(memory + (count + moment_block - 1) / moment_block)};
}

struct Adamw8bitStep {
  OptimizedParameter parameter;  ///< one row
  CodedMoment first_moment;
  CodedMoment second_moment;
  float beta1 = 0.9F;
  float beta2 = 0.999F;
  float epsilon = 1e-8F;
  std::int64_t step = 1;  ///< of this update, counted from 1, where no decision counts it
};

namespace reference {

/// The code of the number of the book that is nearest to `value`; of two, the larger.
[[nodiscard]] std::uint8_t nearest_code(const CodeBook& book, float value);
void adamw_8bit_step(const Adamw8bitStep& args);

}  // namespace reference
}  // namespace plumbline
