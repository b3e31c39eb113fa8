#include "runtime/nccl/nccl_communicator.h"

#include <algorithm>
#include <functional>

#include "runtime/nccl/nccl_call.h"

namespace plumbline {
namespace {

using nccl::DataType;
using nccl::RedOp;

DataType type_of(ElementFormat format) {
  switch (format) {
    case ElementFormat::fp32: return DataType::float32;
    case ElementFormat::bf16: return DataType::bfloat16;
    case ElementFormat::fp16: return DataType::float16;
    case ElementFormat::bytes: return DataType::uint8;
  }
  throw InternalError("an element has a format");
}

RedOp op_of(Reduction reduction, ElementFormat format) {
  check(format != ElementFormat::bytes, "plain bytes are moved, never summed");
  return reduction == Reduction::sum ? RedOp::sum : RedOp::max;
}

/// A part of a buffer, in elements of `width` bytes.
struct Part {
  std::size_t first = 0;  ///< in bytes
  std::size_t count = 0;
  std::size_t bytes = 0;
};

std::vector<Part> parts_of(std::span<const std::int64_t> counts, ElementFormat format) {
  std::vector<Part> parts;
  std::size_t first = 0;
  for (const std::int64_t count : counts) {
    check(count >= 0, "counts of elements are not negative");
    const auto elements = static_cast<std::size_t>(count);
    const std::size_t bytes = elements * static_cast<std::size_t>(element_bytes(format));
    parts.push_back({first, elements, bytes});
    first += bytes;
  }
  return parts;
}

bool are_equal(std::span<const std::int64_t> counts) {
  return std::adjacent_find(counts.begin(), counts.end(), std::not_equal_to<>()) == counts.end();
}

void check_cover(const std::vector<Part>& parts, std::size_t whole, std::size_t own, std::int32_t index) {
  check(parts.back().first + parts.back().bytes == whole, "parts of different sizes cover their buffer");
  check(parts.at(static_cast<std::size_t>(index)).bytes == own, "a rank's own part has the size that its count says");
}

}  // namespace

NcclCommunicator::NcclCommunicator(std::shared_ptr<NcclRank> shared, std::shared_ptr<NcclComm> comm,
                                   NcclChannels channels, RankSet set, std::int32_t index)
    : shared_(std::move(shared)),
      comm_(std::move(comm)),
      channels_(std::move(channels)),
      set_(std::move(set)),
      index_(index) {}

std::vector<std::int64_t> NcclCommunicator::equal_counts(std::size_t bytes, ElementFormat format) const {
  const std::int64_t width = element_bytes(format);
  check(static_cast<std::int64_t>(bytes) % width == 0, "a buffer holds whole elements");
  std::vector<std::int64_t> counts;
  for (std::int32_t rank = 0; rank < set_.size(); ++rank)
    counts.push_back(owned_range(static_cast<std::int64_t>(bytes) / width, set_.size(), rank).count);
  return counts;
}

void NcclCommunicator::all_reduce(std::span<std::byte> data, ElementFormat format, Reduction reduction) {
  const std::vector<Part> parts = parts_of(equal_counts(data.size(), format), format);
  const RedOp op = op_of(reduction, format);
  Call call(*this, Collective::all_reduce, data.size());
  const auto part = [&](std::int32_t rank) { return parts[static_cast<std::size_t>(rank % set_.size())].bytes; };
  call.count(2 * data.size() - part(index_) - part(index_ + 1));
  std::byte* const at = call.in_place(data);
  const std::size_t elements = data.size() / static_cast<std::size_t>(element_bytes(format));
  if (elements > 0)
    comm_->call("ncclAllReduce", [&](nccl::Comm comm) {
      return nccl::api().all_reduce(at, at, elements, type_of(format), op, comm, call.stream());
    });
  call.finish();
}

void NcclCommunicator::reduce_scatter(std::span<const std::byte> data, std::span<std::byte> own, ElementFormat format,
                                      Reduction reduction) {
  reduce_scatter(data, own, equal_counts(data.size(), format), format, reduction);
}

void NcclCommunicator::reduce_scatter(std::span<const std::byte> data, std::span<std::byte> own,
                                      std::span<const std::int64_t> counts, ElementFormat format, Reduction reduction) {
  const std::vector<Part> parts = parts_of(counts, format);
  check_cover(parts, data.size(), own.size(), index_);
  const RedOp op = op_of(reduction, format);
  Call call(*this, Collective::reduce_scatter, data.size() + own.size());
  call.count(data.size() - own.size());
  const std::byte* const from = call.input(data);
  std::byte* const to = call.output(own);
  const DataType type = type_of(format);
  if (are_equal(counts) && !own.empty()) {
    comm_->call("ncclReduceScatter", [&](nccl::Comm comm) {
      return nccl::api().reduce_scatter(from, to, parts.front().count, type, op, comm, call.stream());
    });
  } else if (!data.empty()) {
    comm_->group("ncclReduce", [&](const NcclComm& comm) {
      for (std::int32_t owner = 0; owner < set_.size(); ++owner) {
        const Part& part = parts[static_cast<std::size_t>(owner)];
        if (part.count == 0) continue;
        comm.inside("ncclReduce", nccl::api().reduce(from + part.first, owner == index_ ? to : nullptr, part.count,
                                                     type, op, owner, comm.get(), call.stream()));
      }
    });
  }
  call.finish();
}

void NcclCommunicator::all_gather(std::span<const std::byte> own, std::span<std::byte> all, ElementFormat format) {
  const std::vector<std::int64_t> counts = equal_counts(all.size(), format);
  const auto next = static_cast<std::size_t>((index_ + 1) % set_.size());
  // Round a ring every part passes but the one that the next rank has; handed straight on, the own one to each.
  const Bytes as_handed(std::ssize(own) * (set_.size() - 1));
  const Bytes round(std::ssize(all) - counts[next] * element_bytes(format));
  all_gather(own, all, counts, format);
  sent_.bytes[static_cast<std::size_t>(Collective::all_gather)] += round - as_handed;
}

void NcclCommunicator::all_gather(std::span<const std::byte> own, std::span<std::byte> all,
                                  std::span<const std::int64_t> counts, ElementFormat format) {
  const std::vector<Part> parts = parts_of(counts, format);
  check_cover(parts, all.size(), own.size(), index_);
  Call call(*this, Collective::all_gather, own.size() + all.size());
  call.count(own.size() * static_cast<std::size_t>(set_.size() - 1));
  const std::byte* const from = call.input(own);
  std::byte* const to = call.output(all);
  const DataType type = type_of(format);
  if (are_equal(counts) && !own.empty()) {
    comm_->call("ncclAllGather", [&](nccl::Comm comm) {
      return nccl::api().all_gather(from, to, parts.front().count, type, comm, call.stream());
    });
  } else if (!all.empty()) {
    comm_->group("ncclBroadcast", [&](const NcclComm& comm) {
      for (std::int32_t owner = 0; owner < set_.size(); ++owner) {
        const Part& part = parts[static_cast<std::size_t>(owner)];
        if (part.count == 0) continue;
        comm.inside("ncclBroadcast", nccl::api().broadcast(owner == index_ ? from : to + part.first, to + part.first,
                                                           part.count, type, owner, comm.get(), call.stream()));
      }
    });
  }
  call.finish();
}

void NcclCommunicator::all_to_all(std::span<const std::byte> data, std::span<const std::int64_t> send_counts,
                                  std::span<std::byte> received, std::span<const std::int64_t> receive_counts,
                                  ElementFormat format) {
  const std::vector<Part> leaving = parts_of(send_counts, format);
  const std::vector<Part> coming = parts_of(receive_counts, format);
  const auto ranks = static_cast<std::size_t>(set_.size());
  check(leaving.size() == ranks && coming.size() == ranks, "an all-to-all has one count for each rank");
  const auto me = static_cast<std::size_t>(index_);
  check_cover(leaving, data.size(), leaving[me].bytes, index_);
  check_cover(coming, received.size(), leaving[me].bytes, index_);
  Call call(*this, Collective::all_to_all, data.size() + received.size());
  call.count(data.size() - leaving[me].bytes);
  const std::byte* const from = call.input(data);
  std::byte* const to = call.output(received);
  call.copy(from + leaving[me].first, to + coming[me].first, leaving[me].bytes);
  const DataType type = type_of(format);
  comm_->group("ncclSend and ncclRecv", [&](const NcclComm& comm) {
    for (std::size_t step = 1; step < ranks; ++step) {
      const std::size_t next = (me + step) % ranks;
      const std::size_t before = (me + ranks - step) % ranks;
      if (leaving[next].count > 0)
        comm.inside("ncclSend", nccl::api().send(from + leaving[next].first, leaving[next].count, type,
                                                 static_cast<int>(next), comm.get(), call.stream()));
      if (coming[before].count > 0)
        comm.inside("ncclRecv", nccl::api().recv(to + coming[before].first, coming[before].count, type,
                                                 static_cast<int>(before), comm.get(), call.stream()));
    }
  });
  call.finish();
}

void NcclCommunicator::broadcast(std::span<std::byte> data, std::int32_t root) {
  check(root >= 0 && root < set_.size(), "the root of a broadcast is in its group");
  Call call(*this, Collective::broadcast, data.size());
  call.count((index_ + 1) % set_.size() == root ? 0 : data.size());
  std::byte* const at = call.in_place(data);
  if (!data.empty())
    comm_->call("ncclBroadcast", [&](nccl::Comm comm) {
      return nccl::api().broadcast(at, at, data.size(), DataType::uint8, root, comm, call.stream());
    });
  call.finish();
}

NcclChannel* NcclCommunicator::channel(std::int32_t from, std::int32_t to, std::int32_t tag) const {
  for (const std::int32_t direction : {tag % 2, 0}) {
    const auto found = channels_.find({from, to, direction});
    if (found != channels_.end()) return found->second.get();
  }
  return nullptr;
}

void NcclCommunicator::send(std::span<const std::byte> data, std::int32_t to, std::int32_t tag) {
  check(to >= 0 && to < set_.size() && to != index_ && tag >= 0, "a message goes to another rank of the group");
  Call call(*this, Collective::send_receive, data.size());
  call.count(data.size());
  NcclChannel* const way = channel(index_, to, tag);
  if (call.is_on_device()) {
    check(way != nullptr, "messages of a device's memory go between neighbours");
    if (!data.empty()) way->send(data, call.stream(), call.site());
    return;
  }
  const std::byte* const from = call.input(data);
  if (!data.empty())
    comm_->call("ncclSend", [&](nccl::Comm comm) {
      return nccl::api().send(from, data.size(), DataType::uint8, to, comm, call.stream());
    });
  call.finish();
}

void NcclCommunicator::receive(std::span<std::byte> data, std::int32_t from, std::int32_t tag) {
  check(from >= 0 && from < set_.size() && from != index_ && tag >= 0, "a message comes from another rank");
  Call call(*this, Collective::send_receive, data.size());
  NcclChannel* const way = channel(from, index_, tag);
  if (call.is_on_device()) {
    check(way != nullptr, "messages of a device's memory come from neighbours");
    if (!data.empty()) way->receive(data, call.stream(), call.site());
    return;
  }
  std::byte* const to = call.output(data);
  if (!data.empty())
    comm_->call("ncclRecv", [&](nccl::Comm comm) {
      return nccl::api().recv(to, data.size(), DataType::uint8, from, comm, call.stream());
    });
  call.finish();
}

void NcclCommunicator::barrier() {
  float one = 1;
  Call call(*this, Collective::barrier, sizeof one);
  check(!call.is_on_device(), "hosts wait for each other, not lanes");
  call.count(0);
  std::byte* const at = call.in_place(std::as_writable_bytes(std::span(&one, 1)));
  comm_->call("ncclAllReduce", [&](nccl::Comm comm) {
    return nccl::api().all_reduce(at, at, 1, DataType::float32, RedOp::sum, comm, call.stream());
  });
  call.finish();
}

}  // namespace plumbline
