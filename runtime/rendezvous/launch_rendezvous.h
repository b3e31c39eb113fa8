#pragma once
/// \file launch_rendezvous.h: where the processes of a launch meet, as their launcher's variables say.
///
/// Model: what the user names comes first: a folder, or HOST:PORT. torchrun gives MASTER_ADDR and MASTER_PORT; its own
/// store may hold that port, so the next one is taken. A Slurm step gives its nodes, of which the first keeps the
/// values; the port is 20000 plus the job's number modulo 12000. mpirun gives no address: ranks of one computer meet at
/// 127.0.0.1, at a port of the job's number, and others need a name. A process on its own needs none. Source: PyTorch's
/// documentation of torchrun; srun(1), output variables; OpenMPI's FAQ on running jobs. Not modelled: jobs that share
/// nodes and whose numbers are 12000 apart. Checked against: tests/runtime/rendezvous/launch_rendezvous_test.cpp.

#include <chrono>
#include <memory>
#include <variant>

#include "runtime/mpi/launch_place.h"
#include "runtime/rendezvous/tcp_rendezvous.h"

namespace plumbline {

/// A folder, or an address.
using MeetingPoint = std::variant<std::string, HostPort>;

/// "host:1234" or "[::1]:1234" is an address, everything else a folder. Throws InputError of `where` for an empty text
/// and ports out of range.
[[nodiscard]] MeetingPoint meeting_point(const std::string& text, const std::string& where);
/// Of `place`. Throws InputError where the launcher's variables name none.
[[nodiscard]] MeetingPoint meeting_point(const LaunchPlace& place, const EnvironmentLookup& lookup);
/// The first of a Slurm list: "gpu-[03-07,9],cpu1" begins with gpu-03.
[[nodiscard]] std::string first_host(const std::string& hosts);
/// Of rank `rank`; rank 0 keeps the values of an address.
[[nodiscard]] std::unique_ptr<Rendezvous> open_rendezvous(const MeetingPoint& at, std::int32_t rank,
                                                          std::chrono::milliseconds patience);

}  // namespace plumbline
