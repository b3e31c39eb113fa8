#include "cli/run/rank_flags.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "cli/flags/flag_values.h"

namespace plumbline {
namespace {

void refuse_pair(bool refused, const char* flag, const std::string& what, const char* expected) {
  if (refused) throw InputError({flag, what, expected, ""});
}

}  // namespace

void RankFlags::declare(CLI::App& app) {
  const auto add = [&](const char* name, std::optional<std::string>& value, const char* type, const char* help) {
    app.add_option(name, value, help)->group("Question")->type_name(type);
  };
  add("--backend", backend_, "cpu|cuda", "what computes: cpu (default) or cuda (an NVIDIA GPU; see plan doctor)");
  add("--ranks", transport_, "local|mpi|nccl",
      "what ranks are: local (threads of this process), mpi (processes of mpirun), or nccl (with "
      "--backend cuda: a GPU for each)");
  add("--rendezvous", rendezvous_, "HOST:PORT|FOLDER",
      "with --ranks nccl: where processes meet, instead of what their launcher says: rank 0's address and "
      "a free port, or a folder that all see");
  app.add_flag("--graph", graph_,
               "with --backend cuda, of one rank: steps behind the first are one CUDA graph, which is launched again "
               "each time; the numbers are the same")
      ->group("Question");
  add("--lanes", lanes_, "in-order|threads",
      "where gathers and reductions of data parallelism run: in-order (on the rank's own thread) or threads "
      "(alongside the blocks, as on a GPU)");
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
