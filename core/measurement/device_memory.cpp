#include "core/measurement/device_memory.h"

namespace plumbline {

std::string_view to_text(DevicePart part) {
  static constexpr std::array<std::string_view, device_part_count> names{"context",       "modules", "libraries",
                                                                         "communication", "arena",   "other"};
  return names[static_cast<std::size_t>(part)];
}

}  // namespace plumbline
