#pragma once
/// \file trace_json.h: a trace as Chrome trace JSON, one event per line, which Perfetto opens.

#include <string>

#include "core/simulate/trace.h"

namespace plumbline {

[[nodiscard]] std::string trace_json_text(const Trace& trace);

}  // namespace plumbline
