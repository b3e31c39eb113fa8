#pragma once
/// \file rank_list.h: which rank sits where: host, device and coordinates on every axis.

#include <string>

#include "core/plan/plan.h"

namespace plumbline {

[[nodiscard]] std::string ranks_text(const Plan& plan);

}  // namespace plumbline
