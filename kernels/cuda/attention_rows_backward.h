#pragma once
/// \file attention_rows_backward.h: gradients of attention for any format and head size.
///
/// Model: dS = P (dP - D) scale with D the sum of P dP over a query's keys; a block takes a query of a head for dQ, and
/// a key of a key head for dK and dV, adding over queries in order. `Source` says what P is: computed again, or kept.
/// Source: Dao, FlashAttention-2, arXiv:2307.08691, algorithm 2. Checked against:
/// tests/kernels/cuda/attention_test.cpp.

#include "kernels/cuda/attention_rows.h"

namespace plumbline::cuda {

/// What both kinds of attention know; `along` [batch, heads, queries] is D.
struct AttentionGradients {
  AttentionShape shape;
  ConstTensorView output_gradient;
  ConstTensorView query;
  ConstTensorView key;
  ConstTensorView value;
  TensorView query_gradient;
  TensorView key_gradient;
  TensorView value_gradient;
  Write write_query = Write::overwrite;
  Write write_key_value = Write::overwrite;
  float* along = nullptr;
};

/// Of a query and a key: the probability, what dropout multiplies it by, and what met the value.
struct Probability {
  float p = 0;
  float factor = 1;
  float met = 0;
};

/// dS of a pair whose probability's gradient, dY V^T, is `met_gradient`.
__device__ __forceinline__ float score_gradient(const AttentionShape& s, const Probability& probability,
                                                float met_gradient, float along) {
  return probability.p * (met_gradient * probability.factor - along) * s.scale;
}

template <class Source>
__global__ void __launch_bounds__(attention_threads, attention_blocks)
    query_gradients(AttentionGradients args, Source source) {
  const AttentionShape& s = args.shape;
  auto* query = dynamic_shared<float>();
  float* dy = query + s.qk_head_dim;
  float* gradient = dy + s.v_head_dim;
  float* of_scores = gradient + s.qk_head_dim;
  const std::int64_t q = blockIdx.x;
  const AttentionPlace at = place_of_block(s);
  const std::int64_t row = query_row(s, at, q);
  load_row(query, args.query, row, at.head * s.qk_head_dim, s.qk_head_dim);
  load_row(dy, args.output_gradient, row, at.head * s.v_head_dim, s.v_head_dim);
  for_each_column(s.qk_head_dim, [&](std::int64_t i) { gradient[i] = 0; });
  __syncthreads();
  const float along = args.along[score_row(s, at, q)];
  const Range seen = seen_keys(s, q);
  for (std::int64_t begin = seen.begin; begin < seen.end; begin += attention_threads) {
    const std::int64_t key = begin + threadIdx.x;
    float of_score = 0;
    if (key < seen.end) {
      const std::int64_t at_key = key_row(s, at, key);
      const float score = dot_with(query, args.key, at_key, at.kv_head * s.qk_head_dim, s.qk_head_dim);
      const float met = dot_with(dy, args.value, at_key, at.kv_head * s.v_head_dim, s.v_head_dim);
      of_score = score_gradient(s, source.of(s, at, q, key, score), met, along);
    }
    of_scores[threadIdx.x] = of_score;
    __syncthreads();
    const std::int64_t count = seen.end - begin < attention_threads ? seen.end - begin : attention_threads;
    for_each_column(s.qk_head_dim, [&](std::int64_t i) {
      float sum = gradient[i];
      PLUMBLINE_ROLLED
      for (std::int64_t k = 0; k < count; ++k)
        sum += of_scores[k] * load(args.key, key_row(s, at, begin + k), at.kv_head * s.qk_head_dim + i);
      gradient[i] = sum;
    });
    __syncthreads();
  }
  for_each_column(s.qk_head_dim, [&](std::int64_t i) {
    store(args.query_gradient, row, at.head * s.qk_head_dim + i, gradient[i], args.write_query);
  });
}

/// What a block of `key_value_gradients` keeps in shared memory.
struct KeyRow {
  float* key;
  float* value;
  float* key_gradient;
  float* value_gradient;
  float* of_scores;  ///< of the queries of a step
  float* met;
};

__device__ __forceinline__ KeyRow key_row_in(float* shared, const AttentionShape& s) {
  KeyRow r{};
  r.key = shared;
  r.value = r.key + s.qk_head_dim;
  r.key_gradient = r.value + s.v_head_dim;
  r.value_gradient = r.key_gradient + s.qk_head_dim;
  r.of_scores = r.value_gradient + s.v_head_dim;
  r.met = r.of_scores + attention_threads;
  return r;
}

/// Adds the queries [begin, end) of a head, at most as many as the block has threads.
template <class Source>
static __device__ __forceinline__ void add_queries(const AttentionGradients& args, const Source& source,
                                                   const KeyRow& r, const AttentionPlace& at, std::int64_t key,
                                                   const Range& range) {
  const AttentionShape& s = args.shape;
  const std::int64_t q = range.begin + threadIdx.x;
  float of_score = 0;
  float met = 0;
  if (q < range.end) {
    const std::int64_t row = query_row(s, at, q);
    const float score = dot_with(r.key, args.query, row, at.head * s.qk_head_dim, s.qk_head_dim);
    const float met_gradient = dot_with(r.value, args.output_gradient, row, at.head * s.v_head_dim, s.v_head_dim);
    const Probability probability = source.of(s, at, q, key, score);
    of_score = score_gradient(s, probability, met_gradient, args.along[score_row(s, at, q)]);
    met = probability.met;
  }
  r.of_scores[threadIdx.x] = of_score;
  r.met[threadIdx.x] = met;
  __syncthreads();
  const std::int64_t count = range.end - range.begin;
  for_each_column(s.qk_head_dim, [&](std::int64_t i) {
    PLUMBLINE_ROLLED
    for (std::int64_t k = 0; k < count; ++k)
      r.key_gradient[i] +=
          r.of_scores[k] * load(args.query, query_row(s, at, range.begin + k), at.head * s.qk_head_dim + i);
  });
  for_each_column(s.v_head_dim, [&](std::int64_t i) {
    PLUMBLINE_ROLLED
    for (std::int64_t k = 0; k < count; ++k)
      r.value_gradient[i] +=
          r.met[k] * load(args.output_gradient, query_row(s, at, range.begin + k), at.head * s.v_head_dim + i);
  });
  __syncthreads();
}

template <class Source>
__global__ void __launch_bounds__(attention_threads, attention_blocks)
    key_value_gradients(AttentionGradients args, Source source) {
  const AttentionShape& s = args.shape;
  const KeyRow r = key_row_in(dynamic_shared<float>(), s);
  const std::int64_t key = blockIdx.x;
  AttentionPlace at{blockIdx.z, 0, blockIdx.y};
  const std::int64_t row = key_row(s, at, key);
  load_row(r.key, args.key, row, at.kv_head * s.qk_head_dim, s.qk_head_dim);
  load_row(r.value, args.value, row, at.kv_head * s.v_head_dim, s.v_head_dim);
  for_each_column(s.qk_head_dim, [&](std::int64_t i) { r.key_gradient[i] = 0; });
  for_each_column(s.v_head_dim, [&](std::int64_t i) { r.value_gradient[i] = 0; });
  __syncthreads();
  const std::int64_t group = static_cast<unsigned>(s.heads) / static_cast<unsigned>(s.kv_heads);
  const Range seeing = seeing_queries(s, key);
  for (at.head = at.kv_head * group; at.head < (at.kv_head + 1) * group; ++at.head)
    for (std::int64_t begin = seeing.begin; begin < seeing.end; begin += attention_threads)
      add_queries(args, source, r, at, key,
                  {begin, seeing.end - begin < attention_threads ? seeing.end : begin + attention_threads});
  for_each_column(s.qk_head_dim, [&](std::int64_t i) {
    store(args.key_gradient, row, at.kv_head * s.qk_head_dim + i, r.key_gradient[i], args.write_key_value);
  });
  for_each_column(s.v_head_dim, [&](std::int64_t i) {
    store(args.value_gradient, row, at.kv_head * s.v_head_dim + i, r.value_gradient[i], args.write_key_value);
  });
}

/// `along` is there already.
template <class Source>
void launch_attention_gradients(const char* name, const AttentionGradients& args, const Source& source,
                                cudaStream_t stream) {
  const AttentionShape& s = args.shape;
  const std::int64_t widths = s.qk_head_dim + s.v_head_dim;
  launch(name, attention_rows_shape(s.queries, s.heads, s.batch, widths + s.qk_head_dim + attention_threads), stream,
         query_gradients<Source>, args, source);
  launch(name, attention_rows_shape(s.keys, s.kv_heads, s.batch, 2 * widths + 2 * attention_threads), stream,
         key_value_gradients<Source>, args, source);
}

[[nodiscard]] inline Bytes along_bytes(const AttentionShape& s) {
  return Bytes(s.batch * s.heads * s.queries * std::int64_t{sizeof(float)});
}

}  // namespace plumbline::cuda
