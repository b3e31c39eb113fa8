// The one translation unit that knows cuDNN: its frontend's headers take long to compile. Tests have a stand-in here
// (tests/cuda/fake_cudnn.cpp).
#include "runtime/cuda/cudnn_attention.h"

#if defined(PLUMBLINE_HAS_CUDNN) && __has_include(<cudnn_frontend.h>) && __has_include(<cudnn.h>)
#define PLUMBLINE_CUDNN
#endif

#ifndef PLUMBLINE_CUDNN

namespace plumbline {

const FoundCudnn& cudnn() {
  static const FoundCudnn none{nullptr,
                               "the module was built without cudnn.h, or without cudnn_frontend.h of 1.13 or later"};
  return none;
}

}  // namespace plumbline

#else

#define NV_CUDNN_FRONTEND_USE_DYNAMIC_LOADING
#include <cudnn_frontend.h>
#include <dlfcn.h>

#include <array>
#include <unordered_map>
#include <utility>

#include "runtime/cuda/built_folders.h"
#include "runtime/cuda/cuda_call.h"
#include "runtime/device/dynamic_libraries.h"

namespace cudnn_frontend {
void* cudnn_dlhandle = nullptr;  // NOLINT: the frontend names it
}

namespace plumbline {
namespace {

namespace fe = cudnn_frontend;
using Tensor = std::shared_ptr<fe::graph::Tensor_attributes>;

enum Operand : std::int64_t {
  query = 1,
  key,
  value,
  output,
  sums,
  output_gradient,
  query_gradient,
  key_gradient,
  value_gradient
};

void require_cudnn(fe::error_t error, const char* call) {
  if (error.is_bad()) throw CudaError(std::string("cuDNN's ") + call + ": " + error.get_message());
}

/// Of the thread's device.
cudnnHandle_t handle() {
  thread_local const cudnnHandle_t own = [] {
    cudnnHandle_t made = nullptr;
    const cudnnStatus_t status = fe::detail::create_handle(&made);
    if (status != CUDNN_STATUS_SUCCESS)
      throw CudaError(std::string("cudnnCreate: ") + fe::detail::get_error_string(status));
    return made;
  }();
  return own;
}

/// Rows [batch, positions] of all heads' features as [batch, heads, positions, features].
struct Layout {
  std::int64_t batch;
  std::int64_t heads;
  std::int64_t positions;
  std::int64_t features;
  std::int64_t row;

  [[nodiscard]] std::vector<std::int64_t> size() const { return {batch, heads, positions, features}; }
  [[nodiscard]] std::vector<std::int64_t> stride() const { return {positions * row, features, row, 1}; }
};

Tensor input(fe::graph::Graph& graph, Operand id, const Layout& layout) {
  return graph.tensor(fe::graph::Tensor_attributes().set_uid(id).set_dim(layout.size()).set_stride(layout.stride()));
}

void make_output(const Tensor& tensor, Operand id, const Layout& layout) {
  tensor->set_output(true).set_uid(id).set_dim(layout.size()).set_stride(layout.stride());
}

template <class Attributes>
Attributes attributes_of(const AttentionGraph& g) {
  Attributes attributes;
  attributes.set_name("attention").set_attn_scale(g.scale);
  if (g.is_causal)
    attributes.set_diagonal_alignment(fe::DiagonalAlignment_t::TOP_LEFT).set_diagonal_band_right_bound(0);
  if (g.window > 0) attributes.set_diagonal_band_left_bound(static_cast<int>(g.window));
  return attributes;
}

std::shared_ptr<fe::graph::Graph> described(const AttentionGraph& g) {
  auto graph = std::make_shared<fe::graph::Graph>();
  graph->set_io_data_type(g.format == NumberFormat::bf16 ? fe::DataType_t::BFLOAT16 : fe::DataType_t::HALF)
      .set_intermediate_data_type(fe::DataType_t::FLOAT)
      .set_compute_data_type(fe::DataType_t::FLOAT);
  const auto of_queries = [&](std::int64_t row) { return Layout{g.batch, g.heads, g.queries, g.head_dim, row}; };
  const auto of_keys = [&](std::int64_t row) { return Layout{g.batch, g.kv_heads, g.keys, g.head_dim, row}; };
  const Tensor q = input(*graph, query, of_queries(g.query_stride));
  const Tensor k = input(*graph, key, of_keys(g.key_stride));
  const Tensor v = input(*graph, value, of_keys(g.value_stride));
  const std::vector<std::int64_t> size_of_sums{g.batch, g.heads, g.queries, 1};
  const std::vector<std::int64_t> stride_of_sums{g.heads * g.queries, g.queries, 1, 1};
  if (g.direction == AttentionDirection::forward) {
    auto attributes = attributes_of<fe::graph::SDPA_attributes>(g);
    auto [o, stats] = graph->sdpa(q, k, v, attributes.set_generate_stats(true));
    make_output(o, output, of_queries(g.output_stride));
    stats->set_output(true).set_uid(sums).set_data_type(fe::DataType_t::FLOAT);
    stats->set_dim(size_of_sums).set_stride(stride_of_sums);
    return graph;
  }
  const Tensor o = input(*graph, output, of_queries(g.output_stride));
  const Tensor d_o = input(*graph, output_gradient, of_queries(g.output_gradient_stride));
  const Tensor stats = graph->tensor(fe::graph::Tensor_attributes()
                                         .set_uid(sums)
                                         .set_data_type(fe::DataType_t::FLOAT)
                                         .set_dim(size_of_sums)
                                         .set_stride(stride_of_sums));
  auto attributes = attributes_of<fe::graph::SDPA_backward_attributes>(g);
  auto [d_q, d_k, d_v] = graph->sdpa_backward(q, k, v, o, d_o, stats, attributes.set_deterministic_algorithm(true));
  make_output(d_q, query_gradient, of_queries(g.query_gradient_stride));
  make_output(d_k, key_gradient, of_keys(g.key_gradient_stride));
  make_output(d_v, value_gradient, of_keys(g.value_gradient_stride));
  return graph;
}

class GraphOfCudnn : public BuiltAttention {
 public:
  GraphOfCudnn(std::shared_ptr<fe::graph::Graph> graph, AttentionDirection direction)
      : graph_(std::move(graph)), direction_(direction) {
    require_cudnn(graph_->get_workspace_size(workspace_), "get_workspace_size");
  }

  [[nodiscard]] Bytes workspace() const override { return Bytes(workspace_); }

  void run(const AttentionOperands& at, void* workspace, cudaStream_t stream) override {
    const auto writable = [](const void* pointer) { return const_cast<void*>(pointer); };
    std::unordered_map<std::int64_t, void*> pointers{{query, writable(at.query)},
                                                     {key, writable(at.key)},
                                                     {value, writable(at.value)},
                                                     {output, at.output},
                                                     {sums, at.log_sum_exp}};
    if (direction_ == AttentionDirection::backward) {
      pointers[output_gradient] = writable(at.output_gradient);
      pointers[query_gradient] = at.query_gradient;
      pointers[key_gradient] = at.key_gradient;
      pointers[value_gradient] = at.value_gradient;
    }
    const cudnnStatus_t status = fe::detail::set_stream(handle(), stream);
    if (status != CUDNN_STATUS_SUCCESS)
      throw CudaError(std::string("cudnnSetStream: ") + fe::detail::get_error_string(status));
    require_cudnn(graph_->execute(handle(), pointers, workspace), "execute of attention");
  }

 private:
  std::shared_ptr<fe::graph::Graph> graph_;
  AttentionDirection direction_;
  std::int64_t workspace_ = 0;
};

std::unique_ptr<BuiltAttention> build(const AttentionGraph& g) {
  const std::shared_ptr<fe::graph::Graph> graph = described(g);
  // What the library does not have, our kernels do.
  if (graph->build(handle(), {fe::HeurMode_t::A}).is_bad()) return nullptr;
  return std::make_unique<GraphOfCudnn>(graph, g.direction);
}

FoundCudnn found() {
  const std::string name = "libcudnn.so." + std::to_string(CUDNN_MAJOR);
  FoundCudnn none;
  for (const std::string& file : library_files(name, "cudnn", built_folders())) {
    const OpenedLibrary opened = system_libraries().open(file);
    if (opened.handle != nullptr) {
      fe::cudnn_dlhandle = opened.handle;
      return {build, ""};
    }
    if (none.problem.empty()) none.problem = opened.problem;
  }
  return none;
}

}  // namespace

const FoundCudnn& cudnn() {
  static const FoundCudnn library = found();
  return library;
}

}  // namespace plumbline

#endif
