#include "kernels/cuda/flash_attention.h"
#include "kernels/cuda/flash_tiles.h"

namespace plumbline::cuda {
namespace {

constexpr int tile = flash_tile;  ///< queries of a block, and keys of a step
constexpr int queries_per_warp = tile / flash_warps;

/// What a warp keeps of its 16 queries: a lane has two of them, 8 rows apart.
template <int Width>
struct Accumulated {
  FragmentSum output[Width / 8] = {};
  float top[2] = {-INFINITY, -INFINITY};
  float sum[2] = {0, 0};  ///< of this lane's keys only
};

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
__global__ void __launch_bounds__(flash_threads) flash_forward(AttentionForward args) {
  constexpr int tile_words = tile * (Width + flash_gap);
  const AttentionShape& s = args.shape;
  auto* queries = dynamic_shared<std::uint16_t>();
  std::uint16_t* keys = queries + tile_words;  // two tiles
  std::uint16_t* values = keys + 2 * tile_words;
  const AttentionPlace at = place_of_block(s);
  const std::int64_t first_query = static_cast<std::int64_t>(blockIdx.x) * tile;
  const int warp = static_cast<int>(threadIdx.x) / lanes;
  const HeadRows all_keys = head_rows(args.key, at.sequence * s.keys, s.keys, at.kv_head * Width);
  const HeadRows all_values = head_rows(args.value, at.sequence * s.keys, s.keys, at.kv_head * Width);
  const Range range = tiles_of(s, first_query);
  copy_rows<Width>(queries, head_rows(args.query, at.sequence * s.queries, s.queries, at.head * Width), first_query);
  copy_rows<Width>(keys, all_keys, range.begin);
  copy_rows<Width>(values, all_values, range.begin);
  commit_copies();
  FragmentA query[Width / 16] = {};
  Accumulated<Width> kept;
  int stage = 0;
  for (std::int64_t key = range.begin; key < range.end; key += tile, stage = 1 - stage) {
    if (key + tile < range.end) {
      copy_rows<Width>(keys + (1 - stage) * tile_words, all_keys, key + tile);
      copy_rows<Width>(values + (1 - stage) * tile_words, all_values, key + tile);
    }
    commit_copies();
    wait_for_copies<1>();
    __syncthreads();
    if (key == range.begin)
      for (int c = 0; c < Width / 16; ++c) load_left<Width>(query[c], queries, warp * queries_per_warp, c * 16);
    FragmentSum scores[tile / 8] = {};
    for (int c = 0; c < Width / 16; ++c)
      multiply_rows_of<Width, tile, format>(scores, query[c], keys + stage * tile_words, c * 16);
    mask_scores<Down::queries, tile>(scores,
                                     tile_mask(s, first_query + warp * queries_per_warp, queries_per_warp, key, tile));
    soften(scores, kept, s.scale * log2_e);
    add_weighted_rows<Width, tile, format>(kept.output, scores, values + stage * tile_words);
    __syncthreads();
  }
  store_output<Width, format>(args, at, first_query + warp * queries_per_warp, kept);
}

template <int Width, NumberFormat format>
void launch_flash(const AttentionForward& args, cudaStream_t stream) {
  const AttentionShape& s = args.shape;
  const LaunchShape shape{.grid = dim3(static_cast<unsigned>((s.queries + tile - 1) / tile),
                                       static_cast<unsigned>(s.heads), static_cast<unsigned>(s.batch)),
                          .block = dim3(flash_threads),
                          .dynamic_shared = std::size_t{5} * tile * (Width + flash_gap) * sizeof(std::uint16_t)};
  launch("flash_attention_forward", shape, stream, flash_forward<Width, format>, args);
}

template <int Width>
void launch_flash(const AttentionForward& args, cudaStream_t stream) {
  if (args.query.format == NumberFormat::bf16) return launch_flash<Width, NumberFormat::bf16>(args, stream);
  launch_flash<Width, NumberFormat::fp16>(args, stream);
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
