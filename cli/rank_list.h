#pragma once
/// \file rank_list.h: which rank sits where: host, device and coordinates on every axis.

#include <string>

#include "core/io/json.h"
#include "core/plan/plan.h"

namespace plumbline {

[[nodiscard]] std::string ranks_text(const Plan& plan);
/// [{"rank","host","device","coordinates":{axis:index}}, ...]
[[nodiscard]] Json ranks_json(const Plan& plan);

}  // namespace plumbline
