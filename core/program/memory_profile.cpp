#include "core/program/memory_profile.h"

namespace plumbline {

void MemoryProfile::add(const MemoryProfile& block, std::int64_t count, Bytes freed_logits) {
  saved += count * block.saved;
  logits += count * block.logits;
  kept_for_weight += count * block.kept_for_weight;
  deferred += count * block.deferred;
  late_logits += count * block.late_logits;
  on_host += count * block.on_host;
  in_transit = std::max(in_transit, block.in_transit);
  const WorkingSets& sets = block.working;
  working.forward = std::max(working.forward, beyond_logits(sets.forward, freed_logits));
  working.backward = std::max(working.backward, beyond_logits(sets.backward, freed_logits));
  working.backward_input = std::max(working.backward_input, sets.backward_input);
  working.weight = std::max(working.weight, sets.weight);
}

void MemoryProfile::keep_output(Bytes bytes) {
  saved += bytes;
  kept_for_weight += bytes;
}

void MemoryProfile::add_in_transit(Bytes bytes) {
  for (Bytes* set : {&working.forward, &working.replay, &working.backward, &working.backward_input, &working.weight})
    *set += bytes;
}

void MemoryProfile::move_to_host(std::int64_t copies) {
  for (Bytes* set : {&working.forward, &working.backward, &working.backward_input}) *set += saved;
  deferred += kept_for_weight;
  kept_for_weight = Bytes(0);
  on_host = copies * saved;
  saved = Bytes(0);
}

MemoryProfile MemoryProfile::of_whole_backward() const {
  MemoryProfile whole = *this;
  whole.kept_for_weight = whole.deferred = whole.late_logits = Bytes(0);
  whole.working.backward_input = whole.working.weight = Bytes(0);
  return whole;
}

void MemoryProfile::exchange(const MemoryProfile& from, const MemoryProfile& to) {
  for (Bytes MemoryProfile::*part :
       {&MemoryProfile::saved, &MemoryProfile::logits, &MemoryProfile::kept_for_weight, &MemoryProfile::deferred,
        &MemoryProfile::late_logits, &MemoryProfile::replayed_ahead, &MemoryProfile::on_host})
    this->*part += to.*part - from.*part;
  for (Bytes WorkingSets::*set : {&WorkingSets::forward, &WorkingSets::replay, &WorkingSets::backward,
                                  &WorkingSets::backward_input, &WorkingSets::weight})
    working.*set += to.working.*set - from.working.*set;
}

}  // namespace plumbline
