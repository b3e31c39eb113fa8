#include "runtime/nccl/nccl_connect.h"

#include <algorithm>

#include "runtime/cuda/device_memory.h"

namespace plumbline {
namespace {

using nccl::Comm;
using nccl::DataType;
using nccl::RedOp;

/// `each`: elements of one rank.
class FirstCalls {
 public:
  FirstCalls(NcclComm& comm, const ConnectedGroup& group, NcclRank& shared, std::size_t each)
      : comm_(comm), group_(group), shared_(shared), each_(each), all_(each * static_cast<std::size_t>(group.ranks)) {
    const std::size_t bytes = 2 * all_ * sizeof(float);
    shared_.reserve_scratch(bytes);
    from_ = shared_.scratch.get();
    to_ = from_ + bytes / 2;
    require(cudaMemsetAsync(from_, 0, bytes, stream()), "cudaMemsetAsync of " + to_text(site(Collective::barrier)));
  }

  void collectives() {
    const nccl::Api& api = nccl::api();
    constexpr DataType type = DataType::float32;
    call(Collective::all_reduce, "ncclAllReduce",
         [&](Comm c) { return api.all_reduce(from_, to_, all_, type, RedOp::sum, c, stream()); });
    call(Collective::all_gather, "ncclAllGather",
         [&](Comm c) { return api.all_gather(from_, to_, each_, type, c, stream()); });
    call(Collective::reduce_scatter, "ncclReduceScatter",
         [&](Comm c) { return api.reduce_scatter(from_, to_, each_, type, RedOp::sum, c, stream()); });
    call(Collective::reduce_scatter, "ncclReduce",
         [&](Comm c) { return api.reduce(from_, to_, each_, type, RedOp::sum, 0, c, stream()); });
    call(Collective::broadcast, "ncclBroadcast",
         [&](Comm c) { return api.broadcast(from_, to_, each_, type, 0, c, stream()); });
  }

  void messages() {
    comm_.group("ncclSend and ncclRecv", [&](const NcclComm& comm) {
      for (std::int32_t step = 1; step < group_.ranks; ++step) {
        const std::int32_t next = (group_.index + step) % group_.ranks;
        const std::int32_t before = (group_.index + group_.ranks - step) % group_.ranks;
        const std::size_t at = static_cast<std::size_t>(before) * each_ * sizeof(float);
        comm.inside("ncclSend", nccl::api().send(from_, each_, DataType::float32, next, comm.get(), stream()));
        comm.inside("ncclRecv", nccl::api().recv(to_ + at, each_, DataType::float32, before, comm.get(), stream()));
      }
    });
    shared_.watch.given(site(Collective::all_to_all), stream());
  }

 private:
  [[nodiscard]] cudaStream_t stream() const { return shared_.host_lane.stream(); }
  [[nodiscard]] CallSite site(Collective kind) const { return {group_.name, kind, 0}; }
  void call(Collective kind, const char* name, const std::function<nccl::Result(Comm)>& enqueue) {
    comm_.call(name, enqueue);
    shared_.watch.given(site(kind), stream());
  }

  NcclComm& comm_;
  const ConnectedGroup& group_;
  NcclRank& shared_;
  std::size_t each_;
  std::size_t all_;
  std::byte* from_ = nullptr;
  std::byte* to_ = nullptr;
};

}  // namespace

void connect_ranks(NcclComm& comm, const ConnectedGroup& group, NcclRank& shared, Bytes large) {
  if (group.ranks == 1) return;
  const auto of_large = static_cast<std::size_t>(large.value()) / sizeof(float) / static_cast<std::size_t>(group.ranks);
  for (const std::size_t each : {std::max<std::size_t>(1, of_large), std::size_t{1}}) {
    FirstCalls calls(comm, group, shared, each);
    calls.collectives();
    if (group.messages == Messages::each) calls.messages();
    shared.host_lane.finish();
    shared.watch.require_alive();
  }
}

}  // namespace plumbline
