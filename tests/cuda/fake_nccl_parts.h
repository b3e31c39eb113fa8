#pragma once
/// \file fake_nccl_parts.h: what the ranks of the stand-in for NCCL bring to one call, whether it fits together, and
/// what comes of it. Not for tests.
///
/// Checked against: tests/cuda/nccl_communicator_test.cpp, tests/cuda/nccl_failures_test.cpp.

#include <memory>
#include <string>
#include <vector>

#include "runtime/nccl/nccl_api.h"

namespace plumbline::nccl {

/// One rank's arguments.
struct Operation {
  std::string name;
  const void* from = nullptr;
  void* to = nullptr;
  std::size_t count = 0;
  DataType type = DataType::uint8;
  RedOp op = RedOp::sum;
  int root = -1;  ///< of a message: the other rank
  Comm comm = nullptr;
  cudaStream_t stream = nullptr;
};

[[nodiscard]] const char* error_string(Result result);
/// What the parts of one call have said so far. Under the streams' lock.
[[nodiscard]] std::shared_ptr<std::vector<Operation>> arrivals(const std::string& key, std::size_t parts);
/// That a call counts, of one rank.
[[nodiscard]] std::size_t bytes_of(const Operation& operation);
/// By rank. Throws ExecutionError where calls do not fit together.
void run_collective(const std::vector<Operation>& parts);
/// What is sent, and what receives it.
void run_message(const std::vector<Operation>& parts);

}  // namespace plumbline::nccl
