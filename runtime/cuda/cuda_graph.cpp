#include "runtime/cuda/cuda_graph.h"

#include <utility>

namespace plumbline {

CudaGraph::~CudaGraph() {
  if (is_recording_) {
    cudaGraph_t broken = nullptr;
    (void)cudaStreamEndCapture(origin(), &broken);
    if (broken != nullptr) (void)cudaGraphDestroy(broken);
    stop_recording();
  }
  forget();
}

void CudaGraph::forget() {
  if (executable_ != nullptr) (void)cudaGraphExecDestroy(std::exchange(executable_, nullptr));
}

void CudaGraph::begin() {
  for (const auto& lane : lanes_) lane->finish();
  forget();
  for (const auto& lane : lanes_) lane->begin_recording();
  require(cudaStreamBeginCapture(origin(), cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
  is_recording_ = true;
  times_.begin_recording();
  fork_.record(origin());
  for (const auto& lane : lanes_)
    if (lane->stream() != origin()) fork_.hold_back(lane->stream());
}

void CudaGraph::end() {
  for (const auto& lane : lanes_)
    if (lane->stream() != origin()) lane->hold_back(origin(), lane->mark());
  cudaGraph_t graph = nullptr;
  const cudaError_t captured = cudaStreamEndCapture(origin(), &graph);
  stop_recording();
  require(captured, "cudaStreamEndCapture");
  const cudaError_t made = cudaGraphInstantiate(&executable_, graph, 0);
  (void)cudaGraphDestroy(graph);
  require(made, "cudaGraphInstantiate");
}

void CudaGraph::stop_recording() {
  is_recording_ = false;
  timed_ = times_.end_recording();
  for (const auto& lane : lanes_) lane->end_recording();
}

void CudaGraph::launch() {
  times_.use_again(timed_);
  require(cudaGraphLaunch(executable_, origin()), "cudaGraphLaunch");
}

}  // namespace plumbline
