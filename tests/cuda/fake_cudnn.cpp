// cuDNN's attention by the CPU's kernels, as work of a stream: what a graph may be asked for is checked.
#include "tests/cuda/fake_cudnn.h"

#include <atomic>

#include "kernels/attention.h"
#include "runtime/cuda/cuda_call.h"
#include "runtime/cuda/cudnn_attention.h"
#include "tests/cuda_on_cpu/control.h"
#include "tests/kernel_tensor.h"

namespace plumbline {
namespace {

std::atomic<int> built = 0;
std::atomic<int> run_calls = 0;
std::atomic<bool> builds_graphs = true;
constexpr Bytes needed_workspace(4096);

std::string& failing_call() {
  static std::string call;
  return call;
}
void require_call(const std::string& call) {
  if (failing_call() != call) return;
  failing_call().clear();
  throw CudaError("cuDNN's " + call + ": a test asked for it");
}

FoundCudnn& library() {
  static FoundCudnn found;
  return found;
}

bool is_aligned(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer) % 16 == 0; }

/// Support surface of cuDNN 9's fused attention: 16 bits, features in eights up to 128, heads that share keys evenly,
/// windows with a causal mask alone, as many queries as keys with one. Rows hold their heads.
void require_supported(const AttentionGraph& g) {
  check(g.format == NumberFormat::bf16 || g.format == NumberFormat::fp16, "cuDNN's attention has 16 bits");
  check(g.head_dim > 0 && g.head_dim <= 128 && g.head_dim % 8 == 0, "cuDNN takes features in eights, up to 128");
  check(g.batch > 0 && g.queries > 0 && g.keys > 0 && g.heads % g.kv_heads == 0, "cuDNN's attention has a shape");
  check(g.is_causal || g.window == 0, "cuDNN's windows have a causal mask");
  check(!g.is_causal || g.queries == g.keys, "the masks of cuDNN that are asked for begin at the first key");
  const bool is_forward = g.direction == AttentionDirection::forward;
  for (const auto& [stride, heads, is_there] : {std::tuple(g.query_stride, g.heads, true),
                                                {g.key_stride, g.kv_heads, true},
                                                {g.value_stride, g.kv_heads, true},
                                                {g.output_stride, g.heads, true},
                                                {g.output_gradient_stride, g.heads, !is_forward},
                                                {g.query_gradient_stride, g.heads, !is_forward},
                                                {g.key_gradient_stride, g.kv_heads, !is_forward},
                                                {g.value_gradient_stride, g.kv_heads, !is_forward}}) {
    check(is_there == (stride > 0), "a graph has the tensors of its direction");
    check(stride % 8 == 0 && (!is_there || stride >= heads * g.head_dim), "cuDNN's rows hold their heads");
  }
}

AttentionShape shape_of(const AttentionGraph& g) {
  return {.batch = g.batch,
          .heads = g.heads,
          .kv_heads = g.kv_heads,
          .queries = g.queries,
          .keys = g.keys,
          .qk_head_dim = g.head_dim,
          .v_head_dim = g.head_dim,
          .scale = g.scale,
          .mask = g.is_causal ? Mask::causal : Mask::none,
          .window = g.window};
}

class OnHost : public BuiltAttention {
 public:
  explicit OnHost(const AttentionGraph& graph) : g_(graph) {}
  [[nodiscard]] Bytes workspace() const override { return needed_workspace; }
  void run(const AttentionOperands& at, void* workspace, cudaStream_t stream) override {
    require_call("execute of attention");
    const auto size = static_cast<std::size_t>(needed_workspace.value());
    check(cuda_on_cpu::is_device_memory(workspace, size) && is_aligned(workspace), "cuDNN has its workspace");
    for (const void* const pointer :
         {at.query, at.key, at.value, static_cast<const void*>(at.output), static_cast<const void*>(at.log_sum_exp)})
      check(pointer != nullptr && is_aligned(pointer), "cuDNN's tensors are there");
    ++run_calls;
    require(
        cuda_on_cpu::enqueue_work(
            stream, [g = g_, at] { g.direction == AttentionDirection::forward ? forward(g, at) : backward(g, at); }),
        "enqueue_work");
  }

 private:
  template <class Pointer>
  static BasicTensorView<std::remove_pointer_t<Pointer>> rows(const AttentionGraph& g, Pointer data, std::int64_t rows,
                                                              std::int64_t heads, std::int64_t stride) {
    return {data, g.format, g.batch * rows, heads * g.head_dim, stride, nullptr};
  }
  static void forward(const AttentionGraph& g, const AttentionOperands& at) {
    AttentionForward args;
    args.shape = shape_of(g);
    args.query = rows(g, at.query, g.queries, g.heads, g.query_stride);
    args.key = rows(g, at.key, g.keys, g.kv_heads, g.key_stride);
    args.value = rows(g, at.value, g.keys, g.kv_heads, g.value_stride);
    args.output = rows(g, at.output, g.queries, g.heads, g.output_stride);
    args.log_sum_exp = at.log_sum_exp;
    WorkspaceMemory memory(reference::attention_workspace(args));
    args.workspace = memory;
    reference::attention_forward(args);
  }
  static void backward(const AttentionGraph& g, const AttentionOperands& at) {
    AttentionBackward args;
    args.shape = shape_of(g);
    args.output_gradient = rows(g, at.output_gradient, g.queries, g.heads, g.output_gradient_stride);
    args.query = rows(g, at.query, g.queries, g.heads, g.query_stride);
    args.key = rows(g, at.key, g.keys, g.kv_heads, g.key_stride);
    args.value = rows(g, at.value, g.keys, g.kv_heads, g.value_stride);
    args.output = rows(g, static_cast<const void*>(at.output), g.queries, g.heads, g.output_stride);
    args.log_sum_exp = at.log_sum_exp;
    args.query_gradient = rows(g, at.query_gradient, g.queries, g.heads, g.query_gradient_stride);
    args.key_gradient = rows(g, at.key_gradient, g.keys, g.kv_heads, g.key_gradient_stride);
    args.value_gradient = rows(g, at.value_gradient, g.keys, g.kv_heads, g.value_gradient_stride);
    WorkspaceMemory memory(reference::attention_workspace(args));
    args.workspace = memory;
    reference::attention_backward(args);
  }

  AttentionGraph g_;
};

std::unique_ptr<BuiltAttention> build(const AttentionGraph& graph) {
  require_supported(graph);
  require_call("build");
  if (!builds_graphs) return nullptr;
  ++built;
  return std::make_unique<OnHost>(graph);
}

}  // namespace

/// Missing from the start, so that steps run our own kernels where a test does not ask for it.
const FoundCudnn& cudnn() {
  static const bool is_first = (library() = {build, "libcudnn.so.9: cannot open shared object file"}, true);
  static_cast<void>(is_first);
  return library();
}

}  // namespace plumbline

namespace fake_cudnn {

int graphs_built() { return plumbline::built; }
int calls_run() { return plumbline::run_calls; }
void fail_call(const std::string& call) { plumbline::failing_call() = call; }
void set_missing(const std::string& problem) {
  (void)plumbline::cudnn();
  plumbline::library().problem = problem;
}
void set_has_graphs(bool has_graphs) { plumbline::builds_graphs = has_graphs; }

}  // namespace fake_cudnn
