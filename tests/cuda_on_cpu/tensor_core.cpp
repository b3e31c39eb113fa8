#include "tests/cuda_on_cpu/tensor_core.h"

#include "kernels/number_conversion.h"

namespace cuda_on_cpu {
namespace {

constexpr unsigned all_lanes = 0xffffffffU;

struct Fragments {
  std::uint32_t a[4];
  std::uint32_t b[2];
};

struct MatrixRow {
  std::uint16_t words[8];
};

float half_of(Half format, std::uint32_t pair, unsigned which) {
  const auto word = static_cast<std::uint16_t>(pair >> (16 * which));
  return format == Half::bf16 ? plumbline::from_bf16(word) : plumbline::from_fp16(word);
}

}  // namespace

void mma_m16n8k16(Half format, float (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2], Here here) {
  const Fragments mine{{a[0], a[1], a[2], a[3]}, {b[0], b[1]}};
  const std::byte* slots = warp_exchange(all_lanes, WarpMeeting::matrix_product, &mine, sizeof mine, here);
  const unsigned lane = current_lane();
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned row = lane / 4 + i / 2 * 8;
    const unsigned column = lane % 4 * 2 + i % 2;
    float sum = 0;
    for (unsigned k = 0; k < 16; ++k) {
      const auto of_a = from_lane<Fragments>(slots, row % 8 * 4 + k % 8 / 2);
      const auto of_b = from_lane<Fragments>(slots, column * 4 + k % 8 / 2);
      sum += half_of(format, of_a.a[row / 8 + k / 8 * 2], k % 2) * half_of(format, of_b.b[k / 8], k % 2);
    }
    d[i] += sum;
  }
}

void load_matrix_x4(bool is_transposed, std::uint32_t (&to)[4], const void* row, Here here) {
  if (reinterpret_cast<std::uintptr_t>(row) % 16 != 0)
    throw ExecutionError(cudaErrorLaunchFailure, "ldmatrix: a row is not aligned to 16 bytes at " +
                                                     std::string(here.file_name()) + ":" + std::to_string(here.line()));
  const std::byte* slots = warp_exchange(all_lanes, WarpMeeting::matrix_load, row, sizeof(MatrixRow), here);
  const unsigned lane = current_lane();
  for (unsigned matrix = 0; matrix < 4; ++matrix) {
    std::uint32_t pair = 0;
    for (unsigned which = 0; which < 2; ++which) {
      const unsigned r = is_transposed ? lane % 4 * 2 + which : lane / 4;
      const unsigned c = is_transposed ? lane / 4 : lane % 4 * 2 + which;
      const auto of_row = from_lane<MatrixRow>(slots, matrix * 8 + r);
      pair |= static_cast<std::uint32_t>(of_row.words[c]) << (16 * which);
    }
    to[matrix] = pair;
  }
}

}  // namespace cuda_on_cpu
