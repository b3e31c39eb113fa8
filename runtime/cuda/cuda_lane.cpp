#include "runtime/cuda/cuda_lane.h"

namespace plumbline {

CudaLane::~CudaLane() {
  (void)cudaStreamSynchronize(stream_);
  (void)cudaStreamDestroy(stream_);
}

std::int64_t CudaLane::mark() {
  if (!is_recording_) forget_passed();
  if (unused_.empty()) unused_.push_back(std::make_unique<CudaEvent>());
  std::unique_ptr<CudaEvent> event = std::move(unused_.front());
  unused_.pop_front();
  event->record(stream_);
  open_.push_back({++marks_, std::move(event)});
  return marks_;
}

void CudaLane::forget_passed() {
  while (!open_.empty() && open_.front().event->is_passed()) {
    unused_.push_back(std::move(open_.front().event));
    open_.pop_front();
  }
}

void CudaLane::begin_recording() {
  forget_passed();
  check(open_.empty(), "a lane has done its work before a graph of it is recorded");
  is_recording_ = true;
}

void CudaLane::end_recording() {
  is_recording_ = false;
  for (Marked& marked : open_) unused_.push_back(std::move(marked.event));
  open_.clear();
}

const CudaEvent* CudaLane::event_of(std::int64_t mark) const {
  if (open_.empty() || mark < open_.front().number) return nullptr;
  return open_[static_cast<std::size_t>(mark - open_.front().number)].event.get();
}

void CudaLane::hold_back(cudaStream_t stream, std::int64_t mark) const {
  if (const CudaEvent* const event = event_of(mark)) event->hold_back(stream);
}

void CudaLane::finish(std::int64_t mark) const {
  if (const CudaEvent* const event = event_of(mark)) event->synchronize();
}

}  // namespace plumbline
