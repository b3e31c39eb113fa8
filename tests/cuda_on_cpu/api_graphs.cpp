// Capture, and graphs, of the API.
#include <map>

#include "tests/cuda_on_cpu/api_call.h"
#include "tests/cuda_on_cpu/graphs.h"

using cuda_on_cpu::api_call;
using cuda_on_cpu::Entry;
using cuda_on_cpu::streams;
using cuda_on_cpu::Streams;

struct CUgraph_st {
  std::vector<cuda_on_cpu::GraphNode> nodes;
};
struct CUgraphExec_st {
  std::shared_ptr<const std::vector<cuda_on_cpu::GraphNode>> nodes;
};

namespace cuda_on_cpu {
namespace {

/// That are not destroyed, by their handle.
template <class Handle>
std::map<Handle*, std::unique_ptr<Handle>>& held() {
  static auto* only = new std::map<Handle*, std::unique_ptr<Handle>>;
  return *only;
}

template <class Handle>
Handle* hold(Handle handle) {
  auto made = std::make_unique<Handle>(std::move(handle));
  Handle* const key = made.get();
  held<Handle>()[key] = std::move(made);
  return key;
}

}  // namespace

std::vector<std::size_t> GraphRun::ready() const {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < nodes->size(); ++i) {
    bool may_run = !has_run[i];
    for (const std::size_t needed : (*nodes)[i].needs) may_run = may_run && has_run[needed];
    if (may_run) found.push_back(i);
  }
  return found;
}

}  // namespace cuda_on_cpu

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return api_call("cudaStreamBeginCapture", [&](Streams::Lock&) {
    if (!streams().knows(stream)) return cudaErrorInvalidResourceHandle;
    return streams().captures.begin(stream, mode);
  });
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  *graph = nullptr;
  return api_call("cudaStreamEndCapture", [&](Streams::Lock&) {
    if (!streams().knows(stream)) return cudaErrorInvalidResourceHandle;
    CUgraph_st captured;
    const cudaError_t error = streams().captures.end(stream, captured.nodes);
    if (error == cudaSuccess) *graph = cuda_on_cpu::hold(std::move(captured));
    return error;
  });
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long) {
  *executable = nullptr;
  return api_call("cudaGraphInstantiate", [&](Streams::Lock&) {
    if (!cuda_on_cpu::held<CUgraph_st>().contains(graph)) return cudaErrorInvalidValue;
    *executable =
        cuda_on_cpu::hold(CUgraphExec_st{std::make_shared<const std::vector<cuda_on_cpu::GraphNode>>(graph->nodes)});
    return cudaSuccess;
  });
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  return api_call("cudaGraphLaunch", [&](Streams::Lock&) {
    if (!cuda_on_cpu::held<CUgraphExec_st>().contains(executable)) return cudaErrorInvalidValue;
    if (!streams().knows(stream)) return cudaErrorInvalidResourceHandle;
    if (executable->nodes->empty()) return cudaSuccess;
    Entry entry;
    entry.kind = Entry::Kind::graph;
    entry.graph = std::make_shared<cuda_on_cpu::GraphRun>(executable->nodes);
    return streams().push(stream, std::move(entry));
  });
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return api_call("cudaGraphDestroy", [&](Streams::Lock&) {
    return cuda_on_cpu::held<CUgraph_st>().erase(graph) > 0 ? cudaSuccess : cudaErrorInvalidValue;
  });
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  return api_call("cudaGraphExecDestroy", [&](Streams::Lock&) {
    return cuda_on_cpu::held<CUgraphExec_st>().erase(executable) > 0 ? cudaSuccess : cudaErrorInvalidValue;
  });
}
}
