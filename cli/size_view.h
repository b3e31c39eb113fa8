#pragma once
/// \file size_view.h: how many GPUs a run takes, as text.

#include <string>

#include "planner/session/size.h"

namespace plumbline {

[[nodiscard]] std::string size_text(const session::SizeAnswer& answer);

}  // namespace plumbline
