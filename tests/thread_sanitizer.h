#pragma once
/// \file thread_sanitizer.h: whether the thread sanitizer, under which a run takes ten times as long, watches.
///
/// What a release build tests in every variant is run there in those that differ in their threads.

namespace plumbline {

#if defined(__SANITIZE_THREAD__)
inline constexpr bool watches_threads = true;
#else
inline constexpr bool watches_threads = false;
#endif

}  // namespace plumbline
