#pragma once
/// \file thread_sanitizer.h: whether the tests are built with GCC's thread sanitizer.
///
/// Runs take ten times as long under it, so tests leave out variants that start no threads of their own.

namespace plumbline {

#if defined(__SANITIZE_THREAD__)
inline constexpr bool under_thread_sanitizer = true;
#else
inline constexpr bool under_thread_sanitizer = false;
#endif

}  // namespace plumbline
