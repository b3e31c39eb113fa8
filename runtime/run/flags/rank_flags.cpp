#include "runtime/run/flags/rank_flags.h"

#include "core/base/errors.h"
#include "core/io/value_text.h"

namespace plumbline {
namespace {

void refuse_pair(bool refused, const char* flag, const std::string& what, const char* expected) {
  if (refused) throw InputError({flag, what, expected, ""});
}

}  // namespace

const Options<RankFlags>& RankFlags::option_table() {
  static const Options<RankFlags> all = [] {
    Options<RankFlags> options;
    const auto add = [&](std::optional<std::string> RankFlags::*text, const char* flag, const char* values,
                         const char* help) {
      options.push_back(text_option<RankFlags>(text, {flag, values, help}));
    };
    add(&RankFlags::backend_, "--backend", "cpu|cuda",
        "what computes: cpu (default) or cuda (an NVIDIA GPU; see plan doctor)");
    add(&RankFlags::transport_, "--ranks", "local|mpi|nccl",
        "what ranks are: local (threads of this process), mpi (processes of mpirun), or nccl (with "
        "--backend cuda: a GPU for each)");
    add(&RankFlags::rendezvous_, "--rendezvous", "HOST:PORT|FOLDER",
        "with --ranks nccl: where processes meet, instead of what their launcher says: rank 0's address and "
        "a free port, or a folder that all see");
    options.push_back(
        switch_option(&RankFlags::graph_, {"--graph", "",
                                           "with --backend cuda, of one rank: steps behind the first are one CUDA "
                                           "graph, which is launched again each time; the numbers are the same"}));
    add(&RankFlags::lanes_, "--lanes", "in-order|threads",
        "where gathers and reductions of data parallelism run: in-order (on the rank's own thread) or threads "
        "(alongside the blocks, as on a GPU)");
    return options;
  }();
  return all;
}

RankModes RankFlags::modes() const {
  RankModes modes;
  if (backend_) modes.backend = choice_of("--backend", *backend_, all_compute_backends, compute_backend_from_text);
  refuse_pair(modes.is_cuda() && lanes_, "--lanes", "is given with --backend cuda, whose lanes are streams of the GPU",
              "one of the two");
  if (transport_) modes.transport = choice_of("--ranks", *transport_, all_transports, transport_from_text);
  refuse_pair(modes.transport == Transport::nccl && !modes.is_cuda(), "--ranks",
              "\"nccl\" is given without --backend cuda", "both");
  refuse_pair(rendezvous_ && !modes.is_cuda(), "--rendezvous", "is given without --ranks nccl", "both, or neither");
  refuse_pair(graph_ && !modes.is_cuda(), "--graph", "is given without --backend cuda", "both, or neither");
  if (graph_) modes.launch = StepLaunch::graph;
  if (lanes_) modes.lanes = choice_of("--lanes", *lanes_, all_lane_threads, lane_threads_from_text);
  return modes;
}

RankRole rank_role(const RankModes& modes) {
  if (modes.transport == Transport::nccl) return {Transport::nccl, launch_place(process_environment)};
  if (modes.transport) return {*modes.transport, std::nullopt};
  const std::optional<LaunchPlace> launched = launched_with_others(process_environment);
  if (!launched) return {};
  return modes.is_cuda() ? RankRole{Transport::nccl, launched} : RankRole{Transport::mpi, std::nullopt};
}

}  // namespace plumbline
