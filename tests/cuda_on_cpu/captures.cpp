#include "tests/cuda_on_cpu/captures.h"

#include <algorithm>
#include <array>

#include "tests/cuda_on_cpu/streams.h"

namespace cuda_on_cpu {
namespace {

constexpr std::array unsafe_calls{std::string_view("cudaMalloc"),           std::string_view("cudaFree"),
                                  std::string_view("cudaMallocHost"),       std::string_view("cudaHostAlloc"),
                                  std::string_view("cudaFreeHost"),         std::string_view("cudaMemcpy"),
                                  std::string_view("cudaEventQuery"),       std::string_view("cudaEventSynchronize"),
                                  std::string_view("cudaStreamQuery"),      std::string_view("cudaStreamSynchronize"),
                                  std::string_view("cudaDeviceSynchronize")};

bool is_of_this_thread(const Capture& capture) { return capture.thread == std::this_thread::get_id(); }

/// Its only part, whenever the node runs.
Entry as_work(const CollectivePart& part) {
  Entry entry;
  entry.run = [part] {
    if (part.arrive) part.arrive();
    if (part.together) part.together();
  };
  return entry;
}

/// All nodes that come before these, and these.
std::set<std::size_t> reached_from(const Capture& capture, const std::set<std::size_t>& last) {
  std::set<std::size_t> reached;
  std::vector<std::size_t> open(last.begin(), last.end());
  while (!open.empty()) {
    const std::size_t node = open.back();
    open.pop_back();
    if (!reached.insert(node).second) continue;
    const std::set<std::size_t>& needs = capture.nodes[node].needs;
    open.insert(open.end(), needs.begin(), needs.end());
  }
  return reached;
}

}  // namespace

cudaError_t Captures::broken(Capture& capture, cudaError_t error) {
  capture.is_valid = false;
  return error;
}

cudaError_t Captures::begin(cudaStream_t stream, cudaStreamCaptureMode mode) {
  if (stream->capture != nullptr) return broken(*stream->capture, cudaErrorIllegalState);
  auto capture = std::make_shared<Capture>();
  capture->origin = stream;
  capture->mode = mode;
  capture->thread = std::this_thread::get_id();
  open_.push_back(capture);
  stream->capture = std::move(capture);
  stream->last.clear();
  return cudaSuccess;
}

void Captures::detach(const std::shared_ptr<Capture>& capture) {
  capture->is_open = false;
  streams().for_each([&](CUstream_st& stream) {
    if (stream.capture == capture) stream.capture = nullptr;
  });
  std::erase(open_, capture);
}

cudaError_t Captures::end(cudaStream_t stream, std::vector<GraphNode>& nodes) {
  const std::shared_ptr<Capture> capture = stream->capture;
  if (capture == nullptr) return cudaErrorIllegalState;
  if (capture->origin != stream) return broken(*capture, cudaErrorStreamCaptureUnmatched);
  if (capture->mode != cudaStreamCaptureModeRelaxed && !is_of_this_thread(*capture))
    return broken(*capture, cudaErrorStreamCaptureWrongThread);
  detach(capture);
  if (!capture->is_valid) return cudaErrorStreamCaptureInvalidated;
  if (reached_from(*capture, stream->last).size() < capture->nodes.size()) return cudaErrorStreamCaptureUnjoined;
  nodes = capture->nodes;
  return cudaSuccess;
}

cudaError_t Captures::add(cudaStream_t stream, Entry entry) {
  Capture& capture = *stream->capture;
  if (!capture.is_valid) return cudaErrorStreamCaptureInvalidated;
  if (entry.kind == Entry::Kind::collective && entry.part.parts == 1 && entry.part.remote == nullptr)
    entry = as_work(entry.part);
  if (entry.kind == Entry::Kind::collective || entry.kind == Entry::Kind::graph)
    return broken(capture, cudaErrorStreamCaptureUnsupported);
  capture.nodes.push_back({std::move(entry), stream->last});
  stream->last = {capture.nodes.size() - 1};
  return cudaSuccess;
}

cudaError_t Captures::record(cudaStream_t stream, CUevent_st& event) {
  if (!stream->capture->is_valid) return cudaErrorStreamCaptureInvalidated;
  event.capture = stream->capture;
  event.nodes = stream->last;
  return cudaSuccess;
}

cudaError_t Captures::wait(cudaStream_t stream, CUevent_st& event) {
  if (event.capture == nullptr) return broken(*stream->capture, cudaErrorStreamCaptureIsolation);
  Capture& of_event = *event.capture;
  if (!of_event.is_open) {
    if (stream->capture != nullptr) stream->capture->is_valid = false;
    return cudaErrorCapturedEvent;
  }
  if (!of_event.is_valid) return cudaErrorStreamCaptureInvalidated;
  if (stream->capture != nullptr && stream->capture != event.capture) {
    stream->capture->is_valid = false;
    return broken(of_event, cudaErrorStreamCaptureMerge);
  }
  if (stream->capture == nullptr) stream->last.clear();
  stream->capture = event.capture;
  stream->last.insert(event.nodes.begin(), event.nodes.end());
  return cudaSuccess;
}

cudaError_t Captures::obstacle(std::string_view call) {
  if (std::find(unsafe_calls.begin(), unsafe_calls.end(), call) == unsafe_calls.end()) return cudaSuccess;
  const bool is_of_device = call == "cudaDeviceSynchronize";
  const bool uses_legacy_stream = call == "cudaMemcpy";
  cudaError_t error = cudaSuccess;
  for (const std::shared_ptr<Capture>& capture : open_) {
    const bool is_prohibited = capture->mode == cudaStreamCaptureModeGlobal ||
                               (capture->mode == cudaStreamCaptureModeThreadLocal && is_of_this_thread(*capture)) ||
                               (is_of_device && capture->origin->device == current_device());
    if (uses_legacy_stream && capture->origin->is_blocking)
      error = broken(*capture, cudaErrorStreamCaptureImplicit);
    else if (is_prohibited)
      error = broken(*capture, cudaErrorStreamCaptureUnsupported);
  }
  return error;
}

cudaError_t Captures::require_not_capturing(cudaStream_t stream) {
  return stream->capture == nullptr ? cudaSuccess : broken(*stream->capture, cudaErrorStreamCaptureUnsupported);
}

cudaError_t Captures::require_not_captured(const CUevent_st& event) {
  return event.capture == nullptr ? cudaSuccess : broken(*event.capture, cudaErrorCapturedEvent);
}

void Captures::forget(cudaStream_t stream) {
  if (stream->capture == nullptr) return;
  stream->capture->is_valid = false;
  if (stream->capture->origin == stream) detach(stream->capture);
}

}  // namespace cuda_on_cpu
