#pragma once
/// \file ascii.h: classes of ASCII characters, whatever the locale.

namespace plumbline {

[[nodiscard]] constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace plumbline
