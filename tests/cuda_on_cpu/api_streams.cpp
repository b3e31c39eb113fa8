// Streams, events and work of the API.
#include <chrono>
#include <map>
#include <memory>

#include "tests/cuda_on_cpu/api_call.h"

using cuda_on_cpu::api_call;
using cuda_on_cpu::Entry;
using cuda_on_cpu::streams;
using cuda_on_cpu::Streams;

namespace cuda_on_cpu {
namespace {

/// Events that are not destroyed, by their handle.
std::map<cudaEvent_t, std::shared_ptr<CUevent_st>>& events() {
  static auto* only = new std::map<cudaEvent_t, std::shared_ptr<CUevent_st>>;
  return *only;
}

bool is_known(cudaEvent_t event) { return events().contains(event); }

cudaError_t push(cudaStream_t stream, Entry entry) {
  if (!streams().knows(stream)) return cudaErrorInvalidResourceHandle;
  return streams().push(stream, std::move(entry));
}

cudaError_t create_stream(const char* name, cudaStream_t* stream, unsigned flags) {
  return api_call(name, [&](Streams::Lock&) {
    *stream = streams().create(flags);
    return cudaSuccess;
  });
}

cudaError_t create_event(const char* name, cudaEvent_t* event, unsigned flags) {
  return api_call(name, [&](Streams::Lock&) {
    auto made = std::make_shared<CUevent_st>();
    made->is_timed = (flags & cudaEventDisableTiming) == 0;
    *event = made.get();
    events()[made.get()] = std::move(made);
    return cudaSuccess;
  });
}

}  // namespace

cudaError_t enqueue_work(cudaStream_t stream, std::function<void()> work) {
  return api_call("enqueue_work", [&](Streams::Lock&) {
    Entry entry;
    entry.run = std::move(work);
    return push(stream, std::move(entry));
  });
}

cudaError_t enqueue_collective(cudaStream_t stream, CollectivePart part) {
  return api_call("enqueue_collective", [&](Streams::Lock&) {
    Entry entry;
    entry.kind = Entry::Kind::collective;
    entry.part = std::move(part);
    return push(stream, std::move(entry));
  });
}

}  // namespace cuda_on_cpu

using cuda_on_cpu::events;
using cuda_on_cpu::is_known;

extern "C" {

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cuda_on_cpu::create_stream("cudaStreamCreate", stream, cudaStreamDefault);
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return cuda_on_cpu::create_stream("cudaStreamCreateWithFlags", stream, flags);
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int) {
  return cuda_on_cpu::create_stream("cudaStreamCreateWithPriority", stream, flags);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return api_call("cudaStreamSynchronize", [&](Streams::Lock& lock) {
    if (!streams().knows(stream)) return cudaErrorInvalidResourceHandle;
    const cudaError_t captured = streams().captures.require_not_capturing(stream);
    if (captured != cudaSuccess) return captured;
    return streams().run_until(lock, [&] { return stream->is_idle(); });
  });
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return api_call("cudaStreamDestroy", [&](Streams::Lock& lock) {
    if (!streams().knows(stream)) return cudaErrorInvalidResourceHandle;
    const cudaError_t error = streams().run_until(lock, [&] { return stream->is_idle(); });
    streams().destroy(stream);
    return error;
  });
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return api_call("cudaStreamQuery", [&](Streams::Lock& lock) {
    if (!streams().knows(stream)) return cudaErrorInvalidResourceHandle;
    const cudaError_t captured = streams().captures.require_not_capturing(stream);
    if (captured != cudaSuccess) return captured;
    const cudaError_t error = streams().advance(lock);
    if (error != cudaSuccess) return error;
    return stream->is_idle() ? cudaSuccess : cudaErrorNotReady;
  });
}

cudaError_t cudaDeviceSynchronize() {
  return api_call("cudaDeviceSynchronize",
                  [&](Streams::Lock& lock) { return streams().run_until(lock, [&] { return streams().all_idle(); }); });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  return api_call("cudaStreamWaitEvent", [&](Streams::Lock&) {
    if (!is_known(event) || !streams().knows(stream)) return cudaErrorInvalidResourceHandle;
    if (flags != cudaEventWaitDefault) return cudaErrorNotSupported;
    const bool is_captured = stream->capture != nullptr || event->capture != nullptr;
    if (!is_captured && event->recorded == 0) return cudaSuccess;  // as CUDA: nothing was recorded
    if (cuda_on_cpu::requested_failure("left-out wait") != cudaSuccess) return cudaSuccess;
    if (is_captured) return streams().captures.wait(stream, *event);
    Entry entry;
    entry.kind = Entry::Kind::wait;
    entry.event = events()[event];
    entry.version = event->recorded;
    return cuda_on_cpu::push(stream, std::move(entry));
  });
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* argument) {
  return api_call("cudaLaunchHostFunc", [&](Streams::Lock&) {
    if (function == nullptr) return cudaErrorInvalidValue;
    Entry entry;
    entry.kind = Entry::Kind::host_function;
    entry.run = [function, argument] { function(argument); };
    return cuda_on_cpu::push(stream, std::move(entry));
  });
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cuda_on_cpu::create_event("cudaEventCreate", event, cudaEventDefault);
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return cuda_on_cpu::create_event("cudaEventCreateWithFlags", event, flags);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return api_call("cudaEventDestroy", [&](Streams::Lock&) {
    return events().erase(event) > 0 ? cudaSuccess : cudaErrorInvalidResourceHandle;
  });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return api_call("cudaEventRecord", [&](Streams::Lock&) {
    if (!is_known(event) || !streams().knows(stream)) return cudaErrorInvalidResourceHandle;
    if (stream->capture != nullptr) return streams().captures.record(stream, *event);
    event->capture = nullptr;
    Entry entry;
    entry.kind = Entry::Kind::record;
    entry.event = events()[event];
    entry.version = event->recorded + 1;
    const cudaError_t error = cuda_on_cpu::push(stream, std::move(entry));
    if (error == cudaSuccess) ++event->recorded;
    return error;
  });
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  if (flags == cudaEventRecordDefault) return cudaEventRecord(event, stream);
  return api_call("cudaEventRecordWithFlags", [&](Streams::Lock&) {
    if (!is_known(event) || !streams().knows(stream)) return cudaErrorInvalidResourceHandle;
    if (flags != cudaEventRecordExternal || stream->capture == nullptr) return cudaErrorInvalidValue;
    Entry entry;
    entry.kind = Entry::Kind::record_node;
    entry.event = events()[event];
    return streams().push(stream, std::move(entry));
  });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return api_call("cudaEventSynchronize", [&](Streams::Lock& lock) {
    if (!is_known(event)) return cudaErrorInvalidResourceHandle;
    const cudaError_t captured = cuda_on_cpu::Captures::require_not_captured(*event);
    if (captured != cudaSuccess) return captured;
    const std::shared_ptr<CUevent_st> kept = events()[event];
    const std::uint64_t version = event->recorded;
    return streams().run_until(lock, [&] { return kept->reached >= version; });
  });
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  return api_call("cudaEventQuery", [&](Streams::Lock& lock) {
    if (!is_known(event)) return cudaErrorInvalidResourceHandle;
    const cudaError_t captured = cuda_on_cpu::Captures::require_not_captured(*event);
    if (captured != cudaSuccess) return captured;
    const std::shared_ptr<CUevent_st> kept = events()[event];
    if (kept->reached >= kept->recorded) return cudaSuccess;
    const cudaError_t error = streams().advance_at_times(lock);
    if (error != cudaSuccess) return error;
    return kept->reached >= kept->recorded ? cudaSuccess : cudaErrorNotReady;
  });
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
  return api_call("cudaEventElapsedTime", [&](Streams::Lock&) {
    if (!is_known(from) || !is_known(to)) return cudaErrorInvalidResourceHandle;
    for (const cudaEvent_t event : {from, to})
      if (const cudaError_t captured = cuda_on_cpu::Captures::require_not_captured(*event); captured != cudaSuccess)
        return captured;
    if (!from->is_timed || !to->is_timed || from->recorded == 0 || to->recorded == 0)
      return cudaErrorInvalidResourceHandle;
    if (from->reached < from->recorded || to->reached < to->recorded) return cudaErrorNotReady;
    *milliseconds = std::chrono::duration<float, std::milli>(to->when - from->when).count();
    return cudaSuccess;
  });
}
}
