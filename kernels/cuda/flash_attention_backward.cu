#include "kernels/cuda/flash_attention.h"
#include "kernels/cuda/flash_tiles.h"

namespace plumbline::cuda {
namespace {

/// Rows of a step: what wider heads have of registers goes into their sums.
template <int Width>
inline constexpr int step_rows = Width == 64 ? 64 : 32;
template <int Width>
inline constexpr int row_words = Width + flash_gap;

struct FlashGradients {
  AttentionBackward call;
  const float* along = nullptr;
};

/// Of a query: the log-sum-exp as a power of two, and D. A query that sees nothing, or is none, has no probabilities.
struct QueryNumbers {
  float log2_sum = INFINITY;
  float along = 0;
};

__device__ __forceinline__ QueryNumbers query_numbers(const FlashGradients& args, const AttentionPlace& at,
                                                      std::int64_t query) {
  const AttentionShape& s = args.call.shape;
  QueryNumbers numbers;
  if (query >= s.queries) return numbers;
  const std::int64_t row = score_row(s, at, query);
  const float log_sum = args.call.log_sum_exp[row];
  if (log_sum != -INFINITY) numbers.log2_sum = log_sum * log2_e;
  numbers.along = args.along[row];
  return numbers;
}

/// Columns [column, column + 2) of a row.
template <NumberFormat format>
__device__ __forceinline__ void store_pair(const TensorView& to, std::int64_t row, std::int64_t column, float first,
                                           float second, Write write) {
  const std::int64_t at = row * to.stride + column;
  if (to.format == NumberFormat::fp32) {
    auto* pair = static_cast<float*>(to.data) + at;
    pair[0] = write == Write::accumulate ? pair[0] + first : first;
    pair[1] = write == Write::accumulate ? pair[1] + second : second;
    return;
  }
  auto* pair = reinterpret_cast<std::uint32_t*>(static_cast<std::uint16_t*>(to.data) + at);
  if (write == Write::accumulate) {
    const auto low = static_cast<std::uint16_t>(*pair & 0xffffU);
    const auto high = static_cast<std::uint16_t>(*pair >> 16);
    first += format == NumberFormat::bf16 ? widen_bf16(low) : widen_fp16(low);
    second += format == NumberFormat::bf16 ? widen_bf16(high) : widen_fp16(high);
  }
  *pair = pack<format>(first, second);
}

/// A warp's 16 rows of a gradient, from `first`; the tensor has `rows` of this sequence, from `first_row`.
template <int Width, NumberFormat format>
__device__ __forceinline__ void store_gradient(const TensorView& to, std::int64_t first_row, std::int64_t first,
                                               std::int64_t rows, std::int64_t column,
                                               const FragmentSum (&sums)[Width / 8], float factor, Write write) {
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  PLUMBLINE_UNROLLED
  for (int r = 0; r < 2; ++r) {
    const std::int64_t row = first + lane / 4 + r * 8;
    if (row >= rows) continue;
    PLUMBLINE_UNROLLED
    for (int j = 0; j < Width / 8; ++j)
      store_pair<format>(to, first_row + row, column + j * 8 + lane % 4 * 2, sums[j][2 * r] * factor,
                         sums[j][2 * r + 1] * factor, write);
  }
}

/// scores [16, Rows] and gradients of probabilities [16, Rows] become probabilities and gradients of scores (without
/// the scale). Of those that are minus infinity the probability is zero. `numbers`: of a query, by its column, or by
/// which half of the rows it lies in.
template <Down down, int Rows, class Numbers>
__device__ __forceinline__ void differentiate(FragmentSum (&scores)[Rows / 8], FragmentSum (&gradients)[Rows / 8],
                                              float scale, Numbers numbers) {
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  const float factor = scale * log2_e;
  for (int j = 0; j < Rows / 8; ++j)
    for (int i = 0; i < 4; ++i) {
      const QueryNumbers of_query = numbers(down == Down::keys ? j * 8 + lane % 4 * 2 + i % 2 : i / 2);
      const float p = exp2f(scores[j][i] * factor - of_query.log2_sum);
      scores[j][i] = p;
      gradients[j][i] = p * (gradients[j][i] - of_query.along);
    }
}

/// Shared memory of a block: two tiles that stay, and two of each kind that come and go.
template <int Width>
struct Tiles {
  static constexpr int staying = flash_tile * row_words<Width>;
  static constexpr int passing = step_rows<Width> * row_words<Width>;
  static constexpr std::size_t words = 2 * staying + 4 * passing;
  /// A log-sum-exp and a D for each query that passes, twice.
  static constexpr std::size_t bytes = words * sizeof(std::uint16_t) + 2 * step_rows<Width> * sizeof(QueryNumbers);

  std::uint16_t* first;   ///< keys, or queries
  std::uint16_t* second;  ///< values, or gradients of outputs
  __device__ explicit Tiles(std::uint16_t* shared) : first(shared), second(shared + staying) {}
  [[nodiscard]] __device__ std::uint16_t* passing_first(int stage) const {
    return first + 2 * staying + stage * 2 * passing;
  }
  [[nodiscard]] __device__ std::uint16_t* passing_second(int stage) const { return passing_first(stage) + passing; }
  [[nodiscard]] __device__ QueryNumbers* numbers(int stage) const {
    return reinterpret_cast<QueryNumbers*>(first + words) + stage * step_rows<Width>;
  }
};

/// scores = first rows of both; gradients = second rows of both; of this warp's 16 rows that stay.
template <int Width, NumberFormat format>
__device__ __forceinline__ void multiply_tiles(FragmentSum (&scores)[step_rows<Width> / 8],
                                               FragmentSum (&gradients)[step_rows<Width> / 8],
                                               const Tiles<Width>& tiles, int stage, int row) {
  for (int c = 0; c < Width / 16; ++c) {
    FragmentA left;
    load_left<Width>(left, tiles.first, row, c * 16);
    multiply_rows_of<Width, step_rows<Width>, format>(scores, left, tiles.passing_first(stage), c * 16);
    load_left<Width>(left, tiles.second, row, c * 16);
    multiply_rows_of<Width, step_rows<Width>, format>(gradients, left, tiles.passing_second(stage), c * 16);
  }
}

/// step(number, stage, scores, gradients) with the products of each of `steps` tiles that pass, while copy(number,
/// stage) begins to bring the next one; the first is brought together with the tiles that stay.
template <int Width, NumberFormat format, class Copy, class Step>
__device__ __forceinline__ void pass_tiles(const Tiles<Width>& tiles, int row, int steps, const Copy& copy,
                                           const Step& step) {
  if (steps > 0) copy(0, 0);
  commit_copies();
  for (int number = 0; number < steps; ++number) {
    const int stage = number % 2;
    if (number + 1 < steps) copy(number + 1, 1 - stage);
    commit_copies();
    wait_for_copies<1>();
    __syncthreads();
    FragmentSum scores[step_rows<Width> / 8] = {};
    FragmentSum gradients[step_rows<Width> / 8] = {};
    multiply_tiles<Width, format>(scores, gradients, tiles, stage, row);
    step(number, stage, scores, gradients);
    __syncthreads();
  }
  wait_for_copies<0>();
}

/// A block takes 64 keys of a key head, and adds all queries of the heads that use it, head by head.
template <int Width, NumberFormat format>
__global__ void __launch_bounds__(flash_threads) flash_key_value_gradients(FlashGradients args) {
  constexpr int rows = step_rows<Width>;
  const AttentionBackward& call = args.call;
  const AttentionShape& s = call.shape;
  const Tiles<Width> tiles(dynamic_shared<std::uint16_t>());
  const std::int64_t first_key = static_cast<std::int64_t>(blockIdx.x) * flash_tile;
  AttentionPlace at{blockIdx.z, 0, blockIdx.y};
  const int group = static_cast<int>(static_cast<unsigned>(s.heads) / static_cast<unsigned>(s.kv_heads));
  const std::int64_t last_key = first_key + flash_tile <= s.keys ? first_key + flash_tile - 1 : s.keys - 1;
  const std::int64_t begin = seeing_queries(s, first_key).begin / rows * rows;
  const std::int64_t end = seeing_queries(s, last_key).end;
  const int steps_of_head = static_cast<int>((end - begin + rows - 1) / rows);
  const int steps = end > begin ? group * steps_of_head : 0;
  const auto place_of = [&](int step) {
    at.head = at.kv_head * group + step / steps_of_head;
    return begin + static_cast<std::int64_t>(step % steps_of_head) * rows;
  };
  const auto copy = [&](int step, int stage) {
    const std::int64_t query = place_of(step);
    const std::int64_t first_row = at.sequence * s.queries;
    copy_rows<Width, rows>(tiles.passing_first(stage), head_rows(call.query, first_row, s.queries, at.head * Width),
                           query);
    copy_rows<Width, rows>(tiles.passing_second(stage),
                           head_rows(call.output_gradient, first_row, s.queries, at.head * Width), query);
    for (int i = static_cast<int>(threadIdx.x); i < rows; i += flash_threads)
      tiles.numbers(stage)[i] = query_numbers(args, at, query + i);
  };
  copy_rows<Width>(tiles.first, head_rows(call.key, at.sequence * s.keys, s.keys, at.kv_head * Width), first_key);
  copy_rows<Width>(tiles.second, head_rows(call.value, at.sequence * s.keys, s.keys, at.kv_head * Width), first_key);
  const int row = static_cast<int>(threadIdx.x) / lanes * 16;
  FragmentSum of_key[Width / 8] = {};
  FragmentSum of_value[Width / 8] = {};
  pass_tiles<Width, format>(tiles, row, steps, copy, [&](int step, int stage, auto& scores, auto& gradients) {
    mask_scores<Down::keys, rows>(scores, tile_mask(s, place_of(step), rows, first_key + row, 16));
    differentiate<Down::keys, rows>(scores, gradients, s.scale,
                                    [&](int column) { return tiles.numbers(stage)[column]; });
    add_weighted_rows<Width, rows, format>(of_value, scores, tiles.passing_second(stage));
    add_weighted_rows<Width, rows, format>(of_key, gradients, tiles.passing_first(stage));
  });
  const std::int64_t first_row = at.sequence * s.keys;
  store_gradient<Width, format>(call.key_gradient, first_row, first_key + row, s.keys, at.kv_head * Width, of_key,
                                s.scale, call.write_key_value);
  store_gradient<Width, format>(call.value_gradient, first_row, first_key + row, s.keys, at.kv_head * Width, of_value,
                                1.0F, call.write_key_value);
}

/// A block takes 64 queries of a head.
template <int Width, NumberFormat format>
__global__ void __launch_bounds__(flash_threads) flash_query_gradients(FlashGradients args) {
  constexpr int rows = step_rows<Width>;
  const AttentionBackward& call = args.call;
  const AttentionShape& s = call.shape;
  const Tiles<Width> tiles(dynamic_shared<std::uint16_t>());
  const AttentionPlace at = place_of_block(s);
  const std::int64_t first_query = static_cast<std::int64_t>(blockIdx.x) * flash_tile;
  const HeadRows keys = head_rows(call.key, at.sequence * s.keys, s.keys, at.kv_head * Width);
  const HeadRows values = head_rows(call.value, at.sequence * s.keys, s.keys, at.kv_head * Width);
  const std::int64_t last_query = first_query + flash_tile <= s.queries ? first_query + flash_tile - 1 : s.queries - 1;
  const std::int64_t begin = seen_keys(s, first_query).begin / rows * rows;
  const std::int64_t end = seen_keys(s, last_query).end;
  const int steps = end > begin ? static_cast<int>((end - begin + rows - 1) / rows) : 0;
  const auto key_of = [&](int step) { return begin + static_cast<std::int64_t>(step) * rows; };
  const auto copy = [&](int step, int stage) {
    copy_rows<Width, rows>(tiles.passing_first(stage), keys, key_of(step));
    copy_rows<Width, rows>(tiles.passing_second(stage), values, key_of(step));
  };
  const std::int64_t first_row = at.sequence * s.queries;
  copy_rows<Width>(tiles.first, head_rows(call.query, first_row, s.queries, at.head * Width), first_query);
  copy_rows<Width>(tiles.second, head_rows(call.output_gradient, first_row, s.queries, at.head * Width), first_query);
  const int row = static_cast<int>(threadIdx.x) / lanes * 16;
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  const QueryNumbers numbers[2] = {query_numbers(args, at, first_query + row + lane / 4),
                                   query_numbers(args, at, first_query + row + lane / 4 + 8)};
  FragmentSum of_query[Width / 8] = {};
  pass_tiles<Width, format>(tiles, row, steps, copy, [&](int step, int stage, auto& scores, auto& gradients) {
    mask_scores<Down::queries, rows>(scores, tile_mask(s, first_query + row, 16, key_of(step), rows));
    differentiate<Down::queries, rows>(scores, gradients, s.scale, [&](int half) { return numbers[half]; });
    add_weighted_rows<Width, rows, format>(of_query, gradients, tiles.passing_first(stage));
  });
  store_gradient<Width, format>(call.query_gradient, first_row, first_query + row, s.queries, at.head * Width, of_query,
                                s.scale, call.write_query);
}

template <int Width, NumberFormat format>
void launch_gradients(const FlashGradients& args, cudaStream_t stream) {
  const AttentionShape& s = args.call.shape;
  const auto shape = [&](std::int64_t rows, std::int64_t heads) {
    return LaunchShape{.grid = dim3(static_cast<unsigned>((rows + flash_tile - 1) / flash_tile),
                                    static_cast<unsigned>(heads), static_cast<unsigned>(s.batch)),
                       .block = dim3(flash_threads),
                       .dynamic_shared = Tiles<Width>::bytes};
  };
  launch("flash_attention_backward of keys and values", shape(s.keys, s.kv_heads), stream,
         flash_key_value_gradients<Width, format>, args);
  launch("flash_attention_backward of queries", shape(s.queries, s.heads), stream, flash_query_gradients<Width, format>,
         args);
}

template <int Width>
void launch_gradients(const FlashGradients& args, cudaStream_t stream) {
  if (args.call.query.format == NumberFormat::bf16) return launch_gradients<Width, NumberFormat::bf16>(args, stream);
  launch_gradients<Width, NumberFormat::fp16>(args, stream);
}

}  // namespace

bool takes_flash_attention(const AttentionBackward& args) {
  const AttentionShape& s = args.shape;
  const NumberFormat format = args.query.format;
  const bool is_half = format == NumberFormat::bf16 || format == NumberFormat::fp16;
  const bool is_known_width = s.qk_head_dim == 64 || s.qk_head_dim == 96 || s.qk_head_dim == 128;
  const auto reads = [&](const ConstTensorView& view) { return view.format == format && is_aligned(view); };
  const auto writes = [&](const TensorView& view) {
    return (view.format == format || view.format == NumberFormat::fp32) && is_aligned(view);
  };
  return is_half && is_known_width && s.v_head_dim == s.qk_head_dim && args.dropout.draw.probability == 0.0F &&
         s.scale > 0.0F && reads(args.query) && reads(args.key) && reads(args.value) && reads(args.output_gradient) &&
         writes(args.query_gradient) && writes(args.key_gradient) && writes(args.value_gradient);
}

void flash_attention_backward(const AttentionBackward& args, const float* along, cudaStream_t stream) {
  check(takes_flash_attention(args), "flash attention takes this call");
  const FlashGradients gradients{args, along};
  if (args.shape.qk_head_dim == 64) return launch_gradients<64>(gradients, stream);
  if (args.shape.qk_head_dim == 96) return launch_gradients<96>(gradients, stream);
  launch_gradients<128>(gradients, stream);
}

}  // namespace plumbline::cuda
