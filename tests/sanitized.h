#pragma once
/// \file sanitized.h: fewer cases where each of them takes ten times as long.

#include <vector>

namespace plumbline {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool sanitized = true;
#elif defined(__has_feature)
inline constexpr bool sanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
inline constexpr bool sanitized = false;
#endif

/// All cases; under a sanitizer one of `stride`, the last first, as lists begin with what is simplest.
template <class Case>
[[nodiscard]] std::vector<Case> sampled(const std::vector<Case>& cases, std::size_t stride = 4) {
  if (!sanitized) return cases;
  std::vector<Case> some;
  for (std::size_t i = cases.size(); i > 0; i -= i < stride ? i : stride) some.push_back(cases[i - 1]);
  return some;
}

}  // namespace plumbline
