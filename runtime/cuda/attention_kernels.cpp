#include "runtime/cuda/attention_kernels.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <string_view>

#include "kernels/cuda/cuda_kernels.h"
#include "runtime/cuda/cuda_call.h"
#include "runtime/cuda/cudnn_attention.h"
#include "runtime/cuda/current_lane.h"
#include "runtime/cuda/memory_meter.h"

namespace plumbline {
namespace {

constexpr std::int64_t most_features = 128;
constexpr std::int64_t features_of_16_bytes = 8;  // in 16 bits
constexpr int first_major = 9;                    // compute capability from which it is the default

bool is_asked_for() {
  const char* const text = std::getenv("PLUMBLINE_ATTENTION");
  if (text != nullptr && std::string_view(text) == "own") return false;
  if (text != nullptr && std::string_view(text) == "cudnn") return true;
  int device = 0;
  require(cudaGetDevice(&device), "cudaGetDevice");
  cudaDeviceProp properties{};
  require(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
  return properties.major >= first_major;
}

bool is_16_bit(NumberFormat format) { return format == NumberFormat::bf16 || format == NumberFormat::fp16; }

bool is_suited(const ConstTensorView& view, NumberFormat format) {
  return view.format == format && view.stride % features_of_16_bytes == 0 &&
         reinterpret_cast<std::uintptr_t>(view.data) % (2 * features_of_16_bytes) == 0;
}

/// What both directions have; nothing where cuDNN does not take it.
template <class Call>
std::optional<AttentionGraph> graph_of_inputs(const Call& args, AttentionDirection direction) {
  const AttentionShape& s = args.shape;
  const NumberFormat format = args.query.format;
  const bool is_causal = s.mask == Mask::causal;
  if (!is_16_bit(format) || args.dropout.draw.probability > 0.0F) return std::nullopt;
  if (s.qk_head_dim != s.v_head_dim || s.qk_head_dim > most_features || s.qk_head_dim % features_of_16_bytes != 0)
    return std::nullopt;
  if (s.queries == 0 || s.keys == 0) return std::nullopt;
  if (is_causal && (s.first_query != s.first_key || s.queries != s.keys)) return std::nullopt;
  for (const ConstTensorView& view : {args.query, args.key, args.value, ConstTensorView(args.output)})
    if (!is_suited(view, format)) return std::nullopt;
  return AttentionGraph{.direction = direction,
                        .format = format,
                        .batch = s.batch,
                        .heads = s.heads,
                        .kv_heads = s.kv_heads,
                        .queries = s.queries,
                        .keys = s.keys,
                        .head_dim = s.qk_head_dim,
                        .scale = s.scale,
                        .is_causal = is_causal,
                        .window = is_causal ? s.window : 0,
                        .query_stride = args.query.stride,
                        .key_stride = args.key.stride,
                        .value_stride = args.value.stride,
                        .output_stride = args.output.stride};
}

std::optional<AttentionGraph> graph_of(const AttentionForward& args) {
  return graph_of_inputs(args, AttentionDirection::forward);
}

std::optional<AttentionGraph> graph_of(const AttentionBackward& args) {
  std::optional<AttentionGraph> graph = graph_of_inputs(args, AttentionDirection::backward);
  if (!graph || args.write_query != Write::overwrite || args.write_key_value != Write::overwrite) return std::nullopt;
  for (const ConstTensorView& view : {args.output_gradient, ConstTensorView(args.query_gradient),
                                      ConstTensorView(args.key_gradient), ConstTensorView(args.value_gradient)})
    if (!is_suited(view, graph->format)) return std::nullopt;
  graph->output_gradient_stride = args.output_gradient.stride;
  graph->query_gradient_stride = args.query_gradient.stride;
  graph->key_gradient_stride = args.key_gradient.stride;
  graph->value_gradient_stride = args.value_gradient.stride;
  return graph;
}

/// Of the thread's device, which it keeps. Null: our kernels take the call.
template <class Call>
BuiltAttention* built_for(const Call& args) {
  const std::optional<AttentionGraph> graph = graph_of(args);
  if (!graph) return nullptr;
  thread_local std::map<AttentionGraph, std::unique_ptr<BuiltAttention>> graphs;
  const auto [at, is_new] = graphs.try_emplace(*graph);
  if (is_new && cudnn().problem.empty() && is_asked_for()) {
    const MeasuredUse measured(MemoryUse::libraries);
    at->second = cudnn().build(*graph);
  }
  return at->second.get();
}

/// A call's scratch is that of whoever takes it; a workspace that was asked for with other pointers may be ours.
bool has_room(const Workspace& workspace, const BuiltAttention& built) { return workspace.size >= built.workspace(); }

}  // namespace

namespace library {

Bytes attention_workspace(const AttentionForward& args) {
  const BuiltAttention* const built = built_for(args);
  return built != nullptr ? built->workspace() : cuda::attention_workspace(args);
}

Bytes attention_workspace(const AttentionBackward& args) {
  const BuiltAttention* const built = built_for(args);
  const Bytes own = cuda::attention_workspace(args);
  return built != nullptr ? std::max(own, built->workspace()) : own;
}

void attention_forward(const AttentionForward& args) {
  BuiltAttention* const built = built_for(args);
  if (built == nullptr || !has_room(args.workspace, *built)) return cuda::attention_forward(args, current_stream());
  built->run({.query = args.query.data,
              .key = args.key.data,
              .value = args.value.data,
              .output = args.output.data,
              .log_sum_exp = args.log_sum_exp},
             args.workspace.data, current_stream());
}

void attention_backward(const AttentionBackward& args) {
  BuiltAttention* const built = built_for(args);
  if (built == nullptr || !has_room(args.workspace, *built)) return cuda::attention_backward(args, current_stream());
  // cuDNN reads both; its interface has one kind of pointer.
  built->run({.query = args.query.data,
              .key = args.key.data,
              .value = args.value.data,
              .output = const_cast<void*>(args.output.data),
              .log_sum_exp = const_cast<float*>(args.log_sum_exp),
              .output_gradient = args.output_gradient.data,
              .query_gradient = args.query_gradient.data,
              .key_gradient = args.key_gradient.data,
              .value_gradient = args.value_gradient.data},
             args.workspace.data, current_stream());
}

const char* attention_kernel(const AttentionForward& args) {
  return built_for(args) != nullptr ? "cudnn" : cuda::attention_kernel(args);
}

}  // namespace library

std::string missing_attention() { return is_asked_for() ? cudnn().problem : ""; }

}  // namespace plumbline
