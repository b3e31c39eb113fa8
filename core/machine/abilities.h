#pragma once
/// \file abilities.h: what the matrix units of a generation of devices multiply, and which fused attention runs on it.
///
/// One row for each architecture, with the compute capabilities that it stands for and where its abilities are stated.
/// Defaults (precision, FlashAttention), what is refused (planner/question, rule R24) and a search's space ask it.
/// Not modelled: PyTorch's memory-efficient attention, which runs from compute capability 5.0 on; consumer Blackwell
/// (12.0). Checked against: tests/unit/core/machine/abilities_test.cpp.

#include <string_view>

#include "core/machine/device.h"

namespace plumbline {

struct Abilities {
  DeviceArchitecture architecture;
  std::string_view compute_capability;  ///< NVIDIA's, "8.0, 8.6"; empty: another vendor's
  // Formats that matrix units multiply, next to fp32 and fp16, which all have.
  bool bf16 = false;
  bool tf32 = false;
  bool fp8 = false;
  bool fp4 = false;
  bool scales_blocks = false;   ///< scales of blocks of 16 and 32 operands (MX, NVFP4)
  bool any_fp8_layout = false;  ///< fp8 operands need not have the summed dimension first
  // Largest head whose forward and backward a fused kernel computes; 0: there is none.
  std::int64_t flash_1_head = 0;  ///< FlashAttention 1
  std::int64_t flash_head = 0;    ///< FlashAttention 2 or 3, or cuDNN where it has a kernel
  std::string_view source;
};

[[nodiscard]] const Abilities& abilities(DeviceArchitecture architecture);

/// Whether the matrix units of a device multiply in `format`: as its architecture does, or as its own file says with a
/// peak. In 8 bits and fewer a peak is needed in any case. Processes on a computer's cores emulate what is not fp4
/// (docs/running.md).
[[nodiscard]] bool has_units(const Device& device, NumberFormat format);

}  // namespace plumbline
