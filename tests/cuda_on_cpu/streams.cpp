#include "tests/cuda_on_cpu/streams.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "tests/cuda_on_cpu/graphs.h"
#include "tests/cuda_on_cpu/thread_block.h"

namespace cuda_on_cpu {
namespace {

/// How long streams may stand still before it is called a deadlock: other host threads may still add entries.
constexpr std::chrono::seconds patience{5};
/// Other processes may begin later, and are asked: they give no notice.
constexpr std::chrono::minutes patience_with_processes{5};
constexpr std::chrono::milliseconds between_questions{1};

bool is_given_up(const Entry& collective) {
  return collective.part.is_given_up != nullptr && *collective.part.is_given_up;
}

}  // namespace

Streams& streams() {
  static auto* only = new Streams;
  return *only;
}

int& current_device() {
  thread_local int device = 0;
  return device;
}

bool& is_in_host_function() {
  thread_local bool value = false;
  return value;
}

cudaStream_t Streams::create(unsigned flags) {
  streams_.push_back(std::make_unique<CUstream_st>());
  streams_.back()->device = current_device();
  streams_.back()->is_blocking = (flags & cudaStreamNonBlocking) == 0;
  return streams_.back().get();
}

bool Streams::knows(cudaStream_t stream) const {
  return std::any_of(streams_.begin(), streams_.end(), [&](const auto& s) { return s.get() == stream; });
}

void Streams::destroy(cudaStream_t stream) {
  captures.forget(stream);
  std::erase_if(streams_, [&](const auto& s) { return s.get() == stream; });
}

void Streams::reset() {
  for (const auto& stream : streams_) {
    stream->entries.clear();
    stream->capture = nullptr;
  }
  captures.reset();
  memory.close();
  memory.release_all();
  failure = cudaSuccess;
  problem.clear();
  host_waits = 0;
}

cudaError_t Streams::push(cudaStream_t stream, Entry entry) {
  if (stream->capture != nullptr) return captures.add(stream, std::move(entry));
  was_given_work = was_given_work || (entry.kind != Entry::Kind::record && entry.kind != Entry::Kind::wait);
  stream->entries.push_back(std::move(entry));
  changed_.notify_all();
  return cudaSuccess;
}

bool Streams::all_idle() const {
  return std::all_of(streams_.begin(), streams_.end(),
                     [](const auto& s) { return s->device != current_device() || s->is_idle(); });
}

void Streams::fail(cudaError_t error, const std::string& text) {
  if (failure != cudaSuccess) return;
  failure = error;
  problem = text;
}

std::vector<CUstream_st*> Streams::parts_of(const std::string& key) const {
  std::vector<CUstream_st*> parts;
  for (const auto& stream : streams_)
    if (!stream->is_busy && !stream->entries.empty() && stream->entries.front().kind == Entry::Kind::collective &&
        stream->entries.front().part.key == key && !is_given_up(stream->entries.front()))
      parts.push_back(stream.get());
  return parts;
}

bool Streams::is_ready(const CUstream_st& stream) {
  if (stream.is_busy || stream.entries.empty()) return false;
  const Entry& first = stream.entries.front();
  if (first.kind == Entry::Kind::wait) return first.event->reached >= first.version;
  if (first.kind == Entry::Kind::collective && first.part.remote != nullptr && !is_given_up(first)) {
    bool are_here = false;
    run_guarded([&] { are_here = first.part.remote->are_here(); });
    return are_here;
  }
  if (first.kind == Entry::Kind::collective)
    return is_given_up(first) || parts_of(first.part.key).size() == static_cast<std::size_t>(first.part.parts);
  return true;
}

bool Streams::waits_for_processes() const {
  return std::any_of(streams_.begin(), streams_.end(), [](const auto& s) {
    return !s->entries.empty() && s->entries.front().kind == Entry::Kind::collective &&
           s->entries.front().part.remote != nullptr;
  });
}

std::vector<CUstream_st*> Streams::ready_streams() {
  std::vector<CUstream_st*> ready;
  for (const auto& stream : streams_)
    if (is_ready(*stream)) ready.push_back(stream.get());
  return ready;
}

void Streams::run_guarded(const std::function<void()>& work) {
  memory.open();
  try {
    work();
  } catch (const ExecutionError& error) {
    fail(error.code, error.what());
  } catch (const std::exception& error) {
    fail(cudaErrorLaunchFailure, error.what());
  }
}

void Streams::run_host_function(Lock& lock, CUstream_st& stream, const std::function<void()>& function) {
  memory.close();
  stream.is_busy = true;
  lock.unlock();
  is_in_host_function() = true;
  function();
  is_in_host_function() = false;
  lock.lock();
  stream.is_busy = false;
}

void Streams::run_collective(CUstream_st& stream) {
  if (is_given_up(stream.entries.front())) return stream.entries.pop_front();
  const CollectivePart part = stream.entries.front().part;
  for (CUstream_st* other : parts_of(part.key)) {
    if (other->entries.front().part.arrive) run_guarded(other->entries.front().part.arrive);
    other->entries.pop_front();
  }
  if (part.together) run_guarded(part.together);
}

void Streams::run_first(Lock& lock, CUstream_st& stream) {
  if (stream.entries.front().kind == Entry::Kind::collective) {
    run_collective(stream);
  } else if (stream.entries.front().kind == Entry::Kind::graph) {
    run_node(lock, stream);
  } else {
    const Entry entry = std::move(stream.entries.front());
    stream.entries.pop_front();
    run(lock, stream, entry);
  }
  changed_.notify_all();
}

void Streams::run(Lock& lock, CUstream_st& stream, const Entry& entry) {
  if (entry.kind == Entry::Kind::work) run_guarded(entry.run);
  if (entry.kind == Entry::Kind::host_function) run_host_function(lock, stream, entry.run);
  if (entry.kind == Entry::Kind::record_node) ++entry.event->recorded;
  if (entry.kind == Entry::Kind::record || entry.kind == Entry::Kind::record_node) {
    const std::uint64_t version = entry.kind == Entry::Kind::record ? entry.version : entry.event->recorded;
    entry.event->reached = std::max(entry.event->reached, version);
    entry.event->when = std::chrono::steady_clock::now();
  }
}

void Streams::run_node(Lock& lock, CUstream_st& stream) {
  const std::shared_ptr<GraphRun> graph = stream.entries.front().graph;
  const std::vector<std::size_t> ready = graph->ready();
  const std::size_t node = ready[random() % ready.size()];
  run(lock, stream, (*graph->nodes)[node].entry);
  graph->has_run[node] = true;
  if (++graph->done == graph->nodes->size()) stream.entries.pop_front();
}

cudaError_t Streams::advance(Lock& lock) {
  const std::vector<CUstream_st*> ready = ready_streams();
  if (!ready.empty() && failure == cudaSuccess) run_first(lock, *ready[random() % ready.size()]);
  memory.close();
  return failure;
}

/// One question in so many finds that streams have gone on, and then by as many entries on average: memory is opened
/// and closed for each, which takes longer than the entries do.
cudaError_t Streams::advance_at_times(Lock& lock) {
  constexpr unsigned questions = 16;
  if (random() % questions != 0) return failure;
  for (unsigned left = random() % (2 * questions) + 1; left > 0 && failure == cudaSuccess; --left) {
    const std::vector<CUstream_st*> ready = ready_streams();
    if (ready.empty()) break;
    run_first(lock, *ready[random() % ready.size()]);
  }
  memory.close();
  return failure;
}

cudaError_t Streams::run_until(Lock& lock, const std::function<bool()>& is_done) {
  if (!is_done() && std::exchange(was_given_work, false)) ++host_waits;
  auto ran = std::chrono::steady_clock::now();
  while (!is_done() && failure == cudaSuccess) {
    const std::vector<CUstream_st*> ready = ready_streams();
    if (!ready.empty()) {
      run_first(lock, *ready[random() % ready.size()]);
      ran = std::chrono::steady_clock::now();
      continue;
    }
    memory.close();
    const bool asks = waits_for_processes();
    const bool is_late = std::chrono::steady_clock::now() - ran > patience_with_processes;
    if (changed_.wait_for(lock, asks ? between_questions : patience) == std::cv_status::timeout && (!asks || is_late))
      fail(cudaErrorLaunchTimeout, "streams wait for each other, or for a part of a collective that never comes");
  }
  memory.close();
  return failure;
}

}  // namespace cuda_on_cpu
