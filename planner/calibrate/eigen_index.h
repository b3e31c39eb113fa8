#pragma once
/// \file eigen_index.h: positions of the standard library as Eigen's signed ones.

#include <cstddef>

namespace plumbline {

[[nodiscard]] constexpr std::ptrdiff_t eigen_index(std::size_t i) { return static_cast<std::ptrdiff_t>(i); }

}  // namespace plumbline
