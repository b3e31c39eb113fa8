#pragma once
/// \file version.h: which version of this program is at work: what plans and records are signed with.

#include <string_view>

namespace plumbline {

/// "0.2.0", as the build declares it.
[[nodiscard]] std::string_view program_version();

}  // namespace plumbline
