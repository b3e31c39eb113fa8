#include "runtime/execution/unit_slots.h"

#include <utility>

namespace plumbline {

void UnitSlots::bind(Stream lane) {
  if (buffer_) return;
  buffer_ =
      memory_.backend.bind(MemoryClass::gathered_parameters, storage(elements_, format_), SizeFrom::program, lane);
}

void UnitSlots::release() {
  for (const Mark& mark : busy_) memory_.device.wait(Stream::compute, mark);
  busy_ = {};
  buffer_ = nullptr;
  units_ = {-1, -1};
  holds_staying_ = false;
}

std::int32_t UnitSlots::find(std::int32_t unit) const {
  if (units_[0] == unit) return 0;
  return units_[1] == unit ? 1 : -1;
}

std::size_t UnitSlots::place(UnitSlot slot) {
  check(slot == UnitSlot::first || slot == UnitSlot::second,
        "the program names the slot of a unit that is whole for a while");
  return slot == UnitSlot::first ? 0 : 1;
}

void UnitSlots::put(std::int32_t unit, UnitSlot slot, Stream lane) {
  memory_.device.wait(lane, busy_[place(slot)]);
  units_[place(slot)] = unit;
}

bool UnitSlots::put_staying() { return !std::exchange(holds_staying_, true); }

std::int64_t UnitSlots::bytes_of_unit(std::int32_t unit) const {
  return unit < 0 ? 0 : bytes_of(memory_.layout.units[static_cast<std::size_t>(unit)].*of_unit_, format_);
}

std::byte* UnitSlots::data(std::int32_t unit) const {
  const std::int32_t staying = memory_.layout.staying_unit;
  const std::int32_t slot = find(unit);
  check(buffer_ && (unit == staying ? holds_staying_ : slot >= 0), "a unit is gathered before it is used");
  const std::int64_t room = buffer_->bytes().value() - bytes_of_unit(staying);
  if (unit == staying) return buffer_->data() + room;
  return buffer_->data() + (slot == 0 ? 0 : room - bytes_of_unit(unit));
}

void UnitSlots::mark_busy(std::int32_t unit) {
  const std::int32_t slot = find(unit);
  (slot < 0 ? busy_.back() : busy_[static_cast<std::size_t>(slot)]) = memory_.device.mark(Stream::data);
}

}  // namespace plumbline
