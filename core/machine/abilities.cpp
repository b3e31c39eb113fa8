#include "core/machine/abilities.h"

#include <array>
#include <limits>

namespace plumbline {
namespace {

constexpr std::int64_t any_head = std::numeric_limits<std::int64_t>::max();

constexpr std::array ability_rows{
    Abilities{.architecture = DeviceArchitecture::volta,
              .compute_capability = "7.0",
              .source =
                  "NVIDIA V100 whitepaper (2017): tensor cores multiply fp16; flash-attention README: from Turing "
                  "on"},
    Abilities{.architecture = DeviceArchitecture::turing,
              .compute_capability = "7.5",
              .flash_1_head = 64,
              .source =
                  "NVIDIA Turing whitepaper (2018): tensor cores multiply fp16 and integers; flash-attention README "
                  "1.0.9: Turing, a backward of heads beyond 64 needs A100 or H100; 2.x: from Ampere on"},
    Abilities{.architecture = DeviceArchitecture::ampere,
              .compute_capability = "8.0, 8.6",
              .bf16 = true,
              .tf32 = true,
              .flash_1_head = 128,
              .flash_head = 256,
              .source =
                  "NVIDIA A100 whitepaper (2020): bf16 and tf32; flash-attention README: heads of up to 128 (1.x) "
                  "and 256 (2.x)"},
    Abilities{.architecture = DeviceArchitecture::ada,
              .compute_capability = "8.9",
              .bf16 = true,
              .tf32 = true,
              .fp8 = true,
              .flash_1_head = 128,
              .flash_head = 256,
              .source = "NVIDIA Ada whitepaper (2022): fp8; flash-attention README as for Ampere"},
    Abilities{.architecture = DeviceArchitecture::hopper,
              .compute_capability = "9.0",
              .bf16 = true,
              .tf32 = true,
              .fp8 = true,
              .flash_1_head = 128,
              .flash_head = 256,
              .source =
                  "NVIDIA H100 whitepaper (2022): fp8; cuBLAS documentation: fp8 operands have the summed dimension "
                  "first; flash-attention README as for Ampere"},
    Abilities{.architecture = DeviceArchitecture::blackwell,
              .compute_capability = "10.0, 10.3",
              .bf16 = true,
              .tf32 = true,
              .fp8 = true,
              .fp4 = true,
              .scales_blocks = true,
              .any_fp8_layout = true,
              .flash_head = 256,
              .source = "NVIDIA Blackwell technical brief (2024): fp4, scales of blocks; cuBLAS documentation: fp8 "
                        "operands of any layout from 10.0 on; flash-attention README: 2.x, and 1.x ends with Hopper"},
    Abilities{.architecture = DeviceArchitecture::cdna2,
              .compute_capability = "",
              .bf16 = true,
              .flash_head = 256,
              .source = "AMD CDNA 2 whitepaper (2021): bf16, no tf32; flash-attention README, ROCm: MI200, heads of up "
                        "to 256"},
    Abilities{.architecture = DeviceArchitecture::cdna3,
              .compute_capability = "",
              .bf16 = true,
              .tf32 = true,
              .fp8 = true,
              .flash_head = 256,
              .source =
                  "AMD CDNA 3 whitepaper (2023): xf32 and fp8; flash-attention README, ROCm: MI300, heads of up to "
                  "256"},
    Abilities{.architecture = DeviceArchitecture::cdna4,
              .compute_capability = "",
              .bf16 = true,
              .fp8 = true,
              .fp4 = true,
              .scales_blocks = true,
              .flash_head = 256,
              .source =
                  "AMD CDNA 4 whitepaper (2025): MX formats, no xf32; flash-attention README, ROCm: heads of up to "
                  "256"},
    Abilities{.architecture = DeviceArchitecture::cpu,
              .compute_capability = "",
              .bf16 = true,
              .tf32 = true,
              .fp8 = true,
              .flash_1_head = any_head,
              .flash_head = any_head,
              .source = "this program's own kernels emulate every format but fp4 (docs/running.md)"}};

constexpr bool stand_in_order() {
  for (std::size_t i = 0; i < ability_rows.size(); ++i)
    if (ability_rows[i].architecture != all_device_architectures[i]) return false;
  return ability_rows.size() == all_device_architectures.size();
}
static_assert(stand_in_order(), "one row for each architecture");

bool is_able_of(const Abilities& able, NumberFormat format) {
  switch (format) {
    case NumberFormat::bf16: return able.bf16;
    case NumberFormat::tf32: return able.tf32;
    case NumberFormat::fp8_e4m3:
    case NumberFormat::fp8_e5m2: return able.fp8;
    case NumberFormat::fp4: return able.fp4;
    default: return true;
  }
}

}  // namespace

const Abilities& abilities(DeviceArchitecture architecture) {
  return ability_rows[static_cast<std::size_t>(architecture)];
}

bool has_units(const Device& device, NumberFormat format) {
  const bool is_able = is_able_of(abilities(device.architecture), format) || device.peaks.contains(format);
  const bool needs_peak = bits(format) <= 8 && device.architecture != DeviceArchitecture::cpu;
  return is_able && (!needs_peak || device.peak(format));
}

}  // namespace plumbline
