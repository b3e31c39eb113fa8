#include "runtime/run/run_options.h"

#include "core/base/errors.h"
#include "core/base/found_by_name.h"

namespace plumbline {

std::string_view to_text(Transport transport) {
  switch (transport) {
    case Transport::local: return "local";
    case Transport::mpi: return "mpi";
    case Transport::nccl: return "nccl";
  }
  throw InternalError("a run has a transport");
}

std::optional<Transport> transport_from_text(std::string_view text) { return value_named(all_transports, text); }

}  // namespace plumbline
