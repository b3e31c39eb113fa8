#pragma once
/// \file nccl_api.h: the functions of NCCL that are called here, looked up while the program runs.
///
/// Answers: a table of functions, or one sentence on why there is none. Model: declarations of our own, so that nothing
/// of NCCL's is needed to build this; libnccl.so.2 is loaded when ranks are to use it. Values of enumerators and the
/// layout of the configuration are NCCL's, as of 2.28; later ones read a shorter configuration by its own size.
/// Errors: EnvironmentError for a library that is missing, lacks a function, or is older than 2.18 (communicators that
/// do not block: 2.14; every member of the configuration below: 2.18). Source: NCCL 2.28.9, nccl.h. Checked against:
/// tests/cuda/nccl_api_test.cpp; runtime/nccl/nccl_header_check.cpp where nccl.h is.

#include <cuda_runtime_api.h>

#include <climits>
#include <cstddef>
#include <string>
#include <vector>

#include "core/base/errors.h"
#include "runtime/device/dynamic_libraries.h"

namespace plumbline::nccl {

enum class Result : int {
  success = 0,
  unhandled_cuda_error = 1,
  system_error = 2,
  internal_error = 3,
  invalid_argument = 4,
  invalid_usage = 5,
  remote_error = 6,
  in_progress = 7
};
enum class DataType : int { uint8 = 1, float16 = 6, float32 = 7, bfloat16 = 9 };
enum class RedOp : int { sum = 0, max = 2 };

struct UniqueId {
  char internal[128] = {};
};

/// The first members of ncclConfig_t, which say how many they are. `undefined`: NCCL's own choice.
struct Config {
  static constexpr int undefined = INT_MIN;
  std::size_t size = sizeof(Config);
  unsigned magic = 0xcafebeef;
  unsigned version = 21800;
  int blocking = 1;
  int cga_cluster_size = undefined;
  int min_ctas = undefined;
  int max_ctas = undefined;
  const char* net_name = nullptr;
  int split_share = undefined;
};

using Comm = struct CommHandle*;  ///< opaque

struct Api {
  Result (*get_version)(int*) = nullptr;
  const char* (*get_error_string)(Result) = nullptr;
  const char* (*get_last_error)(Comm) = nullptr;
  Result (*get_unique_id)(UniqueId*) = nullptr;
  Result (*comm_init_rank_config)(Comm*, int ranks, UniqueId, int rank, Config*) = nullptr;
  Result (*comm_get_async_error)(Comm, Result*) = nullptr;
  Result (*comm_finalize)(Comm) = nullptr;
  Result (*comm_destroy)(Comm) = nullptr;
  Result (*comm_abort)(Comm) = nullptr;
  Result (*group_start)() = nullptr;
  Result (*group_end)() = nullptr;
  Result (*all_reduce)(const void*, void*, std::size_t, DataType, RedOp, Comm, cudaStream_t) = nullptr;
  Result (*reduce_scatter)(const void*, void*, std::size_t received, DataType, RedOp, Comm, cudaStream_t) = nullptr;
  Result (*all_gather)(const void*, void*, std::size_t sent, DataType, Comm, cudaStream_t) = nullptr;
  Result (*reduce)(const void*, void*, std::size_t, DataType, RedOp, int root, Comm, cudaStream_t) = nullptr;
  Result (*broadcast)(const void*, void*, std::size_t, DataType, int root, Comm, cudaStream_t) = nullptr;
  Result (*send)(const void*, std::size_t, DataType, int peer, Comm, cudaStream_t) = nullptr;
  Result (*recv)(void*, std::size_t, DataType, int peer, Comm, cudaStream_t) = nullptr;
};

inline constexpr const char* library_file = "libnccl.so.2";
/// Loads the first of `files` that is there.
[[nodiscard]] Api load_api(const DynamicLibraries& libraries, const std::vector<std::string>& files = {library_file});
/// The library of this process: loaded at the first call. Tests link another definition (tests/cuda/fake_nccl.cpp).
[[nodiscard]] const Api& api();

/// "ncclAllReduce: unhandled cuda error (result 1): Cuda failure 'out of memory'".
[[nodiscard]] std::string failure_text(const Api& api, const std::string& call, Result result, Comm comm);

}  // namespace plumbline::nccl
