#include "runtime/run/device_memory.h"

#include <algorithm>

namespace plumbline {

std::optional<DeviceMemoryRecord> device_memory(const ComputeDevice& device, const Backend& backend,
                                                Communicator& everyone) {
  if (!device.memory_use()) return std::nullopt;
  everyone.barrier();
  const DeviceUse use = *device.memory_use();
  everyone.barrier();
  const Bytes scratch = backend.scratch_sizes()[static_cast<std::size_t>(ScratchUse::kernel)];
  DeviceMemoryRecord record;
  record[DevicePart::context] = use.context;
  record[DevicePart::modules] = use.modules;
  record[DevicePart::libraries] = use.libraries + scratch;
  record[DevicePart::communication] = use.communication;
  record[DevicePart::arena] = backend.arena_bytes();
  // Negative where the device served this rank from memory that it had rounded another rank's up to.
  record[DevicePart::other] = std::max(Bytes(0), use.reserved - scratch - backend.arena_bytes() + use.rounding);
  record.device_peak = use.peak;
  record.trials = use.trials;
  record.ranks = use.ranks;
  return record;
}

}  // namespace plumbline
