#include "kernels/cuda/attention_rows.h"
#include "kernels/cuda/cuda_kernels.h"
#include "kernels/cuda/flash_attention.h"
#include "kernels/cuda/tensor_core.h"

namespace plumbline::cuda {
namespace {

constexpr int tile = 64;  ///< queries of a block, and keys of a step
constexpr int warps = 4;
constexpr int queries_per_warp = tile / warps;
static_assert(queries_per_warp == 16);
constexpr int gap = 8;  ///< between rows in shared memory, so that a column's rows lie in different banks
constexpr float log2_e = 1.44269504F;

/// A head's rows of a tensor.
struct HeadRows {
  const std::uint16_t* first = nullptr;
  std::int64_t stride = 0;
  std::int64_t count = 0;
};

__device__ __forceinline__ HeadRows head_rows(const ConstTensorView& view, std::int64_t first_row, std::int64_t rows,
                                              std::int64_t column) {
  return {static_cast<const std::uint16_t*>(view.data) + first_row * view.stride + column, view.stride, rows};
}

/// Copies rows [first, first + 64), zeros behind the last.
template <int Width>
__device__ __forceinline__ void copy_tile(std::uint16_t* to, const HeadRows& from, std::int64_t first) {
  constexpr int parts = Width / 8;
  for (int i = static_cast<int>(threadIdx.x); i < tile * parts; i += warps * lanes) {
    const int row = i / parts;
    const int column = i % parts * 8;
    const bool is_there = first + row < from.count;
    const std::int64_t at = is_there ? (first + row) * from.stride + column : 0;
    copy_async(to + row * (Width + gap) + column, from.first + at, is_there);
  }
}

/// What a warp keeps of its 16 queries: a lane has two of them, 8 rows apart.
template <int Width>
struct Accumulated {
  FragmentSum output[Width / 8] = {};
  float top[2] = {-INFINITY, -INFINITY};
  float sum[2] = {0, 0};  ///< of this lane's keys only
};

/// scores [16, 64] = query key^T.
template <int Width, NumberFormat format>
__device__ __forceinline__ void multiply_keys(FragmentSum (&scores)[tile / 8], const FragmentA (&query)[Width / 16],
                                              const std::uint16_t* keys) {
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  for (int c = 0; c < Width / 16; ++c)
    for (int j = 0; j < tile / 16; ++j) {
      FragmentA loaded;  // keys 16 j to 16 j + 15
      load_matrices<false>(loaded,
                           keys + (j * 16 + lane % 8 + lane / 16 * 8) * (Width + gap) + c * 16 + lane / 8 % 2 * 8);
      const FragmentB low = {loaded[0], loaded[1]};
      const FragmentB high = {loaded[2], loaded[3]};
      multiply_add<format>(scores[2 * j], query[c], low);
      multiply_add<format>(scores[2 * j + 1], query[c], high);
    }
}

/// Minus infinity where a query does not see a key.
__device__ __forceinline__ void mask_scores(FragmentSum (&scores)[tile / 8], const AttentionShape& s,
                                            std::int64_t first_query, std::int64_t first_key) {
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  for (int j = 0; j < tile / 8; ++j)
    for (int i = 0; i < 4; ++i) {
      const std::int64_t key = first_key + j * 8 + lane % 4 * 2 + i % 2;
      const std::int64_t behind = s.first_query + first_query + lane / 4 + i / 2 * 8 - s.first_key - key;
      const bool sees = s.mask == Mask::none || (behind >= 0 && (s.window == 0 || behind < s.window));
      if (key >= s.keys || !sees) scores[j][i] = -INFINITY;
    }
}

/// Scores become exponentials over the new maximum; what is accumulated moves to it. The four lanes of a row agree.
template <int Width>
__device__ __forceinline__ void soften(FragmentSum (&scores)[tile / 8], Accumulated<Width>& kept, float factor) {
  for (int r = 0; r < 2; ++r) {
    float top = kept.top[r];
    for (int j = 0; j < tile / 8; ++j) top = fmaxf(top, fmaxf(scores[j][2 * r], scores[j][2 * r + 1]));
    top = fmaxf(top, __shfl_xor_sync(all_lanes, top, 1));
    top = fmaxf(top, __shfl_xor_sync(all_lanes, top, 2));
    const float base = top == -INFINITY ? 0.0F : top * factor;
    const float shrink = exp2f(kept.top[r] * factor - base);
    kept.top[r] = top;
    kept.sum[r] *= shrink;
    for (int j = 0; j < Width / 8; ++j)
      for (int i = 2 * r; i < 2 * r + 2; ++i) kept.output[j][i] *= shrink;
    for (int j = 0; j < tile / 8; ++j)
      for (int i = 2 * r; i < 2 * r + 2; ++i) {
        scores[j][i] = exp2f(scores[j][i] * factor - base);
        kept.sum[r] += scores[j][i];
      }
  }
}

template <int Width, NumberFormat format>
__device__ __forceinline__ void multiply_values(Accumulated<Width>& kept, const FragmentSum (&p)[tile / 8],
                                                const std::uint16_t* values) {
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  for (int j = 0; j < tile / 16; ++j) {
    const FragmentA probabilities = {pack<format>(p[2 * j][0], p[2 * j][1]), pack<format>(p[2 * j][2], p[2 * j][3]),
                                     pack<format>(p[2 * j + 1][0], p[2 * j + 1][1]),
                                     pack<format>(p[2 * j + 1][2], p[2 * j + 1][3])};
    for (int c = 0; c < Width / 16; ++c) {
      FragmentA loaded;
      load_matrices<true>(loaded, values + (j * 16 + lane % 16) * (Width + gap) + c * 16 + lane / 16 * 8);
      const FragmentB low = {loaded[0], loaded[1]};
      const FragmentB high = {loaded[2], loaded[3]};
      multiply_add<format>(kept.output[2 * c], probabilities, low);
      multiply_add<format>(kept.output[2 * c + 1], probabilities, high);
    }
  }
}

template <int Width, NumberFormat format>
__device__ __forceinline__ void store_output(const AttentionForward& args, const AttentionPlace& at,
                                             std::int64_t first_query, Accumulated<Width>& kept) {
  const AttentionShape& s = args.shape;
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  for (int r = 0; r < 2; ++r) {
    float sum = kept.sum[r];
    sum += __shfl_xor_sync(all_lanes, sum, 1);
    sum += __shfl_xor_sync(all_lanes, sum, 2);
    const std::int64_t query = first_query + lane / 4 + r * 8;
    if (query >= s.queries) continue;
    if (lane % 4 == 0)
      args.log_sum_exp[score_row(s, at, query)] = sum == 0.0F ? -INFINITY : kept.top[r] * s.scale + logf(sum);
    const float inverse = sum == 0.0F ? 0.0F : 1.0F / sum;
    auto* row = static_cast<std::uint16_t*>(args.output.data) + query_row(s, at, query) * args.output.stride +
                at.head * Width + lane % 4 * 2;
    for (int j = 0; j < Width / 8; ++j)
      *reinterpret_cast<std::uint32_t*>(row + j * 8) =
          pack<format>(kept.output[j][2 * r] * inverse, kept.output[j][2 * r + 1] * inverse);
  }
}

/// The first tile of keys that the block's queries see, and the end of the last.
__device__ __forceinline__ Range tiles_of(const AttentionShape& s, std::int64_t first_query) {
  const std::int64_t last = first_query + tile <= s.queries ? first_query + tile - 1 : s.queries - 1;
  return {seen_keys(s, first_query).begin / tile * tile, seen_keys(s, last).end};
}

template <int Width, NumberFormat format>
__global__ void __launch_bounds__(warps* lanes) flash_forward(AttentionForward args) {
  constexpr int tile_words = tile * (Width + gap);
  const AttentionShape& s = args.shape;
  auto* queries = dynamic_shared<std::uint16_t>();
  std::uint16_t* keys = queries + tile_words;  // two tiles
  std::uint16_t* values = keys + 2 * tile_words;
  const AttentionPlace at = place_of_block(s);
  const std::int64_t first_query = static_cast<std::int64_t>(blockIdx.x) * tile;
  const int warp = static_cast<int>(threadIdx.x) / lanes;
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  const HeadRows all_keys = head_rows(args.key, at.sequence * s.keys, s.keys, at.kv_head * Width);
  const HeadRows all_values = head_rows(args.value, at.sequence * s.keys, s.keys, at.kv_head * Width);
  const Range range = tiles_of(s, first_query);
  copy_tile<Width>(queries, head_rows(args.query, at.sequence * s.queries, s.queries, at.head * Width), first_query);
  copy_tile<Width>(keys, all_keys, range.begin);
  copy_tile<Width>(values, all_values, range.begin);
  commit_copies();
  FragmentA query[Width / 16] = {};
  Accumulated<Width> kept;
  int stage = 0;
  for (std::int64_t key = range.begin; key < range.end; key += tile, stage = 1 - stage) {
    if (key + tile < range.end) {
      copy_tile<Width>(keys + (1 - stage) * tile_words, all_keys, key + tile);
      copy_tile<Width>(values + (1 - stage) * tile_words, all_values, key + tile);
    }
    commit_copies();
    wait_for_copies<1>();
    __syncthreads();
    if (key == range.begin)
      for (int c = 0; c < Width / 16; ++c)
        load_matrices<false>(query[c],
                             queries + (warp * queries_per_warp + lane % 16) * (Width + gap) + c * 16 + lane / 16 * 8);
    FragmentSum scores[tile / 8] = {};
    multiply_keys<Width, format>(scores, query, keys + stage * tile_words);
    mask_scores(scores, s, first_query + warp * queries_per_warp, key);
    soften(scores, kept, s.scale * log2_e);
    multiply_values<Width, format>(kept, scores, values + stage * tile_words);
    __syncthreads();
  }
  store_output<Width, format>(args, at, first_query + warp * queries_per_warp, kept);
}

template <int Width, NumberFormat format>
void launch_flash(const AttentionForward& args, cudaStream_t stream) {
  const AttentionShape& s = args.shape;
  const LaunchShape shape{.grid = dim3(static_cast<unsigned>((s.queries + tile - 1) / tile),
                                       static_cast<unsigned>(s.heads), static_cast<unsigned>(s.batch)),
                          .block = dim3(warps * lanes),
                          .dynamic_shared = std::size_t{5} * tile * (Width + gap) * sizeof(std::uint16_t)};
  launch("flash_attention_forward", shape, stream, flash_forward<Width, format>, args);
}

template <int Width>
void launch_flash(const AttentionForward& args, cudaStream_t stream) {
  if (args.query.format == NumberFormat::bf16) return launch_flash<Width, NumberFormat::bf16>(args, stream);
  launch_flash<Width, NumberFormat::fp16>(args, stream);
}

/// Rows that copies of 16 bytes may begin at.
bool is_aligned(const ConstTensorView& view) {
  constexpr std::uintptr_t unit = 16;
  return reinterpret_cast<std::uintptr_t>(view.data) % unit == 0 && view.stride % 8 == 0;
}

}  // namespace

bool takes_flash_attention(const AttentionForward& args) {
  const AttentionShape& s = args.shape;
  const NumberFormat format = args.query.format;
  const bool is_half = format == NumberFormat::bf16 || format == NumberFormat::fp16;
  const bool is_known_width = s.qk_head_dim == 64 || s.qk_head_dim == 96 || s.qk_head_dim == 128;
  return is_half && args.key.format == format && args.value.format == format && args.output.format == format &&
         is_known_width && s.v_head_dim == s.qk_head_dim && args.dropout.draw.probability == 0.0F && s.scale > 0.0F &&
         is_aligned(args.query) && is_aligned(args.key) && is_aligned(args.value) && is_aligned(args.output);
}

void flash_attention_forward(const AttentionForward& args, cudaStream_t stream) {
  check(takes_flash_attention(args), "flash attention takes this call");
  if (args.shape.qk_head_dim == 64) return launch_flash<64>(args, stream);
  if (args.shape.qk_head_dim == 96) return launch_flash<96>(args, stream);
  launch_flash<128>(args, stream);
}

}  // namespace plumbline::cuda
