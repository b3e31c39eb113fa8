#include "core/machine/device.h"

#include "core/machine/abilities.h"

namespace plumbline {

std::string_view to_text(SourceKind kind) {
  switch (kind) {
    case SourceKind::datasheet: return "datasheet";
    case SourceKind::measured: return "measured";
    case SourceKind::published: return "published";
    case SourceKind::assumed: return "assumed";
  }
  return "";
}

std::string_view to_text(DeviceArchitecture architecture) {
  switch (architecture) {
    case DeviceArchitecture::volta: return "volta";
    case DeviceArchitecture::turing: return "turing";
    case DeviceArchitecture::ampere: return "ampere";
    case DeviceArchitecture::ada: return "ada";
    case DeviceArchitecture::hopper: return "hopper";
    case DeviceArchitecture::blackwell: return "blackwell";
    case DeviceArchitecture::cdna2: return "cdna2";
    case DeviceArchitecture::cdna3: return "cdna3";
    case DeviceArchitecture::cdna4: return "cdna4";
    case DeviceArchitecture::cpu: return "cpu";
  }
  return "";
}

std::optional<FlopsPerSecond> Device::peak(NumberFormat format) const {
  const auto found = [this](NumberFormat wanted) -> std::optional<FlopsPerSecond> {
    const auto entry = peaks.find(wanted);
    if (entry == peaks.end()) return std::nullopt;
    return entry->second.value;
  };
  if (const auto exact = found(format)) return exact;
  switch (format) {
    case NumberFormat::tf32: return found(NumberFormat::fp32);
    case NumberFormat::fp8_e4m3: return found(NumberFormat::fp8_e5m2);
    case NumberFormat::fp8_e5m2: return found(NumberFormat::fp8_e4m3);
    default: return std::nullopt;
  }
}

bool Device::scales_blocks() const { return abilities(architecture).scales_blocks; }

FlopsPerSecond Device::product_peak(NumberFormat format) const {
  if (const auto rate = peak(format)) return *rate;
  for (const NumberFormat wider : {NumberFormat::bf16, NumberFormat::fp16, NumberFormat::tf32, NumberFormat::fp32})
    if (bits(wider) >= bits(format))
      if (const auto rate = peak(wider)) return *rate;
  return peak(NumberFormat::fp32).value_or(FlopsPerSecond(1));
}

}  // namespace plumbline
