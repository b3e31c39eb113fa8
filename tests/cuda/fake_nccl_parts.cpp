#include "tests/cuda/fake_nccl_parts.h"

#include <cstring>
#include <map>

#include "runtime/communication/reduce.h"
#include "tests/cuda_on_cpu/thread_block.h"

namespace plumbline::nccl {
namespace {

ElementFormat format_of(DataType type) {
  switch (type) {
    case DataType::float32: return ElementFormat::fp32;
    case DataType::bfloat16: return ElementFormat::bf16;
    case DataType::float16: return ElementFormat::fp16;
    case DataType::uint8: return ElementFormat::bytes;
  }
  return ElementFormat::bytes;
}

std::span<const std::byte> bytes_at(const void* from, std::size_t size) {
  return {static_cast<const std::byte*>(from), size};
}

/// Round the ranks from the second on, rounded after each.
std::vector<std::byte> reduced(const std::vector<Operation>& parts, std::size_t first, std::size_t size) {
  const auto part = [&](std::size_t rank) {
    return bytes_at(static_cast<const std::byte*>(parts[rank].from) + first, size);
  };
  const std::size_t start = 1 % parts.size();
  std::vector<std::byte> sum(part(start).begin(), part(start).end());
  const Reduction reduction = parts.front().op == RedOp::sum ? Reduction::sum : Reduction::maximum;
  for (std::size_t step = 1; step < parts.size(); ++step) {
    const std::span<const std::byte> both[] = {sum, part((start + step) % parts.size())};
    reduce_in_order(both, sum, format_of(parts.front().type), reduction);
  }
  return sum;
}

void require_fit(const std::vector<Operation>& parts) {
  const Operation& first = parts.front();
  for (const Operation& one : parts)
    if (one.name != first.name || one.count != first.count || one.type != first.type || one.op != first.op ||
        one.root != first.root)
      throw cuda_on_cpu::ExecutionError(cudaErrorLaunchFailure,
                                        "NCCL: ranks' calls do not fit together: " + first.name + " of " +
                                            std::to_string(first.count) + " elements and " + one.name + " of " +
                                            std::to_string(one.count));
}

void write(void* to, std::span<const std::byte> bytes) {
  if (to != nullptr && !bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
}

}  // namespace

std::size_t bytes_of(const Operation& o) {
  return o.count * static_cast<std::size_t>(element_bytes(format_of(o.type)));
}

void run_collective(const std::vector<Operation>& parts) {
  require_fit(parts);
  const Operation& first = parts.front();
  const std::size_t size = bytes_of(first);
  if (first.name == "ncclAllReduce" || first.name == "ncclReduce") {
    const std::vector<std::byte> sum = reduced(parts, 0, size);
    for (std::size_t rank = 0; rank < parts.size(); ++rank)
      if (first.root < 0 || first.root == static_cast<int>(rank)) write(parts[rank].to, sum);
  } else if (first.name == "ncclReduceScatter") {
    std::vector<std::vector<std::byte>> sums;
    for (std::size_t rank = 0; rank < parts.size(); ++rank) sums.push_back(reduced(parts, rank * size, size));
    for (std::size_t rank = 0; rank < parts.size(); ++rank) write(parts[rank].to, sums[rank]);
  } else if (first.name == "ncclAllGather") {
    std::vector<std::byte> all;
    for (const Operation& one : parts) {
      const auto own = bytes_at(one.from, size);
      all.insert(all.end(), own.begin(), own.end());
    }
    for (const Operation& one : parts) write(one.to, all);
  } else {
    const auto root = bytes_at(parts[static_cast<std::size_t>(first.root)].from, size);
    const std::vector<std::byte> kept(root.begin(), root.end());
    for (const Operation& one : parts) write(one.to, kept);
  }
}

void run_message(const std::vector<Operation>& parts) {
  const Operation& sent = parts[0];
  const Operation& received = parts[1];
  if (sent.count != received.count || sent.type != received.type)
    throw cuda_on_cpu::ExecutionError(cudaErrorLaunchFailure, "NCCL: a send of " + std::to_string(bytes_of(sent)) +
                                                                  " bytes meets a receive of " +
                                                                  std::to_string(bytes_of(received)));
  write(received.to, bytes_at(sent.from, bytes_of(sent)));
}

const char* error_string(Result result) {
  switch (result) {
    case Result::success: return "no error";
    case Result::unhandled_cuda_error: return "unhandled cuda error";
    case Result::system_error: return "unhandled system error";
    case Result::internal_error: return "internal error";
    case Result::invalid_argument: return "invalid argument";
    case Result::invalid_usage: return "invalid usage";
    case Result::remote_error: return "remote process exited or there was a network error";
    case Result::in_progress: return "NCCL operation in progress";
  }
  return "unknown result code";
}

std::shared_ptr<std::vector<Operation>> arrivals(const std::string& key, std::size_t parts) {
  static std::map<std::string, std::weak_ptr<std::vector<Operation>>> open;  // under the streams' lock
  auto found = open[key].lock();
  if (found == nullptr) {
    found = std::make_shared<std::vector<Operation>>(parts);
    open[key] = found;
    std::erase_if(open, [](const auto& one) { return one.second.expired(); });
  }
  return found;
}

}  // namespace plumbline::nccl
