#pragma once
/// \file device.h: one accelerator as its datasheet describes it.
///
/// Peaks are dense (never the sparse ones) and count a multiply-add as two FLOPs. Memory is what a process is
/// given (cudaMemGetInfo's total), up to 3 % less than the driver's total and the number on the box; a device without a
/// report of that keeps the driver's. Link rates belong to the node (node.h).

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/machine/sourced.h"
#include "core/quantity/number_format.h"
#include "core/quantity/quantity.h"

namespace plumbline {

enum class DeviceArchitecture : std::uint8_t {
  volta,
  turing,
  ampere,
  ada,
  hopper,
  blackwell,
  cdna2,
  cdna3,
  cdna4,
  cpu
};
inline constexpr std::array all_device_architectures{
    DeviceArchitecture::volta,  DeviceArchitecture::turing,    DeviceArchitecture::ampere, DeviceArchitecture::ada,
    DeviceArchitecture::hopper, DeviceArchitecture::blackwell, DeviceArchitecture::cdna2,  DeviceArchitecture::cdna3,
    DeviceArchitecture::cdna4,  DeviceArchitecture::cpu};
[[nodiscard]] std::string_view to_text(DeviceArchitecture architecture);

struct Device {
  std::string name;
  std::string vendor;
  DeviceArchitecture architecture = DeviceArchitecture::cpu;
  Sourced<Bytes> memory;  ///< that a process can take, its own context included
  Sourced<BytesPerSecond> memory_bandwidth;
  std::map<NumberFormat, Sourced<FlopsPerSecond>> peaks;  ///< dense matrix-product rates
  std::int32_t streaming_multiprocessors = 1;             ///< compute units on AMD, cores on a CPU
  Sourced<Bytes> l2_cache;
  Sourced<Watts> power;                            ///< board limit
  std::optional<Sourced<Dollars>> price_per_hour;  ///< of one device with its share of the node

  bool operator==(const Device&) const = default;

  /// The dense peak of matrix products whose operands are in `format`. tf32 falls back on fp32, the two fp8 formats on
  /// each other; nothing when the device does not multiply in that format.
  [[nodiscard]] std::optional<FlopsPerSecond> peak(NumberFormat format) const;
  /// Whether its tensor cores apply the scales of blocks of 16 and 32 operands (MX, NVFP4).
  [[nodiscard]] bool scales_blocks() const;
  /// What such products can reach at most: without units for `format` they run in the next wider one that there is.
  /// Never zero.
  [[nodiscard]] FlopsPerSecond product_peak(NumberFormat format) const;
};

}  // namespace plumbline
