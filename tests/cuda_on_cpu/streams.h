#pragma once
/// \file streams.h: streams and events of the device on the CPU. Not for tests or kernels.
///
/// Model: every stream is a queue; whoever waits runs the first entries of queues, drawn at random, until what it waits
/// for is done. One entry runs at a time, under one lock. Checked against: tests/cuda_on_cpu/streams_test.cpp.

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "tests/cuda_on_cpu/captures.h"
#include "tests/cuda_on_cpu/device_memory.h"

namespace cuda_on_cpu {

class Streams {
 public:
  using Lock = std::unique_lock<std::recursive_mutex>;

  /// Everything below is called under this lock.
  std::recursive_mutex mutex;
  DeviceMemory memory;
  Captures captures;

  cudaStream_t create(unsigned flags);
  [[nodiscard]] bool knows(cudaStream_t stream) const;
  void destroy(cudaStream_t stream);
  void reset();

  /// Of a stream that is capturing: a node of the graph.
  cudaError_t push(cudaStream_t stream, Entry entry);
  template <class Act>
  void for_each(Act act) {
    for (const auto& stream : streams_) act(*stream);
  }
  /// Something that entries wait for has changed.
  void notice() { changed_.notify_all(); }
  /// Runs entries until `is_done`, or until one fails: the error, which stays.
  cudaError_t run_until(Lock& lock, const std::function<bool()>& is_done);
  /// Runs one entry, if any can.
  cudaError_t advance(Lock& lock);
  /// At some calls none, at others several.
  cudaError_t advance_at_times(Lock& lock);
  /// Of this host thread's device.
  [[nodiscard]] bool all_idle() const;
  void fail(cudaError_t error, const std::string& text);

  cudaError_t failure = cudaSuccess;
  std::string problem;
  int host_waits = 0;  ///< calls that found work to wait for, behind the last work that was given
  bool was_given_work = false;
  std::mt19937 random{1};

 private:
  [[nodiscard]] bool is_ready(const CUstream_st& stream);
  [[nodiscard]] std::vector<CUstream_st*> parts_of(const std::string& key) const;
  std::vector<CUstream_st*> ready_streams();
  [[nodiscard]] bool waits_for_processes() const;
  void run_first(Lock& lock, CUstream_st& stream);
  void run(Lock& lock, CUstream_st& stream, const Entry& entry);
  void run_node(Lock& lock, CUstream_st& stream);
  void run_host_function(Lock& lock, CUstream_st& stream, const std::function<void()>& function);
  void run_collective(CUstream_st& stream);
  void run_guarded(const std::function<void()>& work);

  std::vector<std::unique_ptr<CUstream_st>> streams_;  ///< in the order of their creation
  std::condition_variable_any changed_;
};

Streams& streams();

/// Of this host thread. Devices share their memory.
int& current_device();

/// Whether this host thread is in a host function of a stream.
bool& is_in_host_function();

}  // namespace cuda_on_cpu
