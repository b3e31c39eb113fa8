#include "runtime/rendezvous/launch_rendezvous.h"

#include <charconv>

#include "runtime/rendezvous/file_rendezvous.h"

namespace plumbline {
namespace {

constexpr std::int64_t first_port = 20'000;  // above what services register, below what Linux gives out by itself
constexpr std::int64_t ports = 12'000;       // 32 768, net.ipv4.ip_local_port_range, ip(7)
constexpr std::int64_t last_port = 65'535;

std::optional<std::int64_t> number_in(const std::string& text) {
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end ? std::optional(value) : std::nullopt;
}

std::uint16_t port_in(const std::string& text, const std::string& where) {
  const auto value = number_in(text);
  if (value && *value >= 1 && *value <= last_port) return static_cast<std::uint16_t>(*value);
  throw InputError({where, "has the port '" + text + "'", "a whole number from 1 to 65535", ""});
}

std::uint16_t port_of_job(std::int64_t job) { return static_cast<std::uint16_t>(first_port + job % ports); }

[[noreturn]] void refuse_without_address(const LaunchPlace& place, const std::string& lacking) {
  throw InputError({"--rendezvous", "is missing: " + place.launcher + " sets no " + lacking,
                    "HOST:PORT of rank 0, or a folder that all ranks see", ""});
}

std::string required(const LaunchPlace& place, const EnvironmentLookup& lookup, const char* name) {
  const auto value = lookup(name);
  if (!value || value->empty()) refuse_without_address(place, name);
  return *value;
}

HostPort of_torchrun(const LaunchPlace& place, const EnvironmentLookup& lookup) {
  const std::string host = required(place, lookup, "MASTER_ADDR");
  const std::uint16_t port = port_in(required(place, lookup, "MASTER_PORT"), "environment variable MASTER_PORT");
  return {host, static_cast<std::uint16_t>(port == last_port ? port - 1 : port + 1)};
}

HostPort of_slurm(const LaunchPlace& place, const EnvironmentLookup& lookup) {
  const auto of_step = lookup("SLURM_STEP_NODELIST");
  const std::string nodes = of_step ? *of_step : required(place, lookup, "SLURM_JOB_NODELIST");
  const auto job = number_in(required(place, lookup, "SLURM_JOB_ID"));
  if (!job || *job < 0) refuse_without_address(place, "number in SLURM_JOB_ID");
  return {first_host(nodes), port_of_job(*job)};
}

HostPort of_mpirun(const LaunchPlace& place, const EnvironmentLookup& lookup) {
  if (number_in(lookup("OMPI_COMM_WORLD_LOCAL_SIZE").value_or("")) != place.ranks)
    refuse_without_address(place, "address of rank 0 for ranks on several computers");
  const auto job = number_in(lookup("OMPI_MCA_ess_base_jobid").value_or(""));
  if (!job || *job < 0) refuse_without_address(place, "number of its job");
  return {"127.0.0.1", port_of_job(*job)};
}

}  // namespace

std::string first_host(const std::string& hosts) {
  const std::size_t bracket = hosts.find('[');
  const std::size_t comma = hosts.find(',');
  if (bracket == std::string::npos || comma < bracket) return hosts.substr(0, comma);
  const std::size_t end = hosts.find_first_of("-,]", bracket);
  const std::size_t close = hosts.find(']', bracket);
  if (end == std::string::npos || close == std::string::npos) return hosts;
  const std::size_t next = std::min(hosts.find(',', close), hosts.size());
  return hosts.substr(0, bracket) + hosts.substr(bracket + 1, end - bracket - 1) +
         hosts.substr(close + 1, next - close - 1);
}

MeetingPoint meeting_point(const std::string& text, const std::string& where) {
  if (text.empty()) throw InputError({where, "is empty", "HOST:PORT, or a folder that all ranks see", ""});
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0 || text.find('/') != std::string::npos) return text;
  std::string host = text.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  return HostPort{host, port_in(text.substr(colon + 1), where)};
}

MeetingPoint meeting_point(const LaunchPlace& place, const EnvironmentLookup& lookup) {
  if (place.launcher == "torchrun") return of_torchrun(place, lookup);
  if (place.launcher == "Slurm") return of_slurm(place, lookup);
  if (place.launcher == "mpirun") return of_mpirun(place, lookup);
  refuse_without_address(place, "address of rank 0");
}

std::unique_ptr<Rendezvous> open_rendezvous(const MeetingPoint& at, std::int32_t rank,
                                            std::chrono::milliseconds patience) {
  if (const auto* const folder = std::get_if<std::string>(&at)) return std::make_unique<FileRendezvous>(*folder);
  const auto role = rank == 0 ? TcpRendezvous::Role::keeps : TcpRendezvous::Role::asks;
  return std::make_unique<TcpRendezvous>(std::get<HostPort>(at), role, patience);
}

}  // namespace plumbline
