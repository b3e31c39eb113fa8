#pragma once
/// \file compute_backend.h: what computes: this computer's CPU, or an NVIDIA GPU.

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/base/found_by_name.h"

namespace plumbline {

enum class ComputeBackend : std::uint8_t { cpu, cuda };
inline constexpr std::array all_compute_backends{ComputeBackend::cpu, ComputeBackend::cuda};

/// As flags and records name it.
[[nodiscard]] constexpr std::string_view to_text(ComputeBackend backend) {
  return backend == ComputeBackend::cpu ? "cpu" : "cuda";
}
[[nodiscard]] constexpr std::optional<ComputeBackend> compute_backend_from_text(std::string_view text) {
  return value_named(all_compute_backends, text);
}

}  // namespace plumbline
