#include "runtime/execution/collectives_inside.h"

namespace plumbline {
namespace {

bool computes(const Action& a) { return a.stream == Stream::compute && a.pass != Pass::step; }

}  // namespace

Granted CollectivesInside::granted_behind(std::int32_t index) const {
  Granted granted;
  const auto action = [&](std::int32_t i) -> const Action& { return rank_.actions[static_cast<std::size_t>(i)]; };
  // Rows for weight gradients are gathered again where the schedule puts them; the backward before lists that.
  if (action(index).kind == ActionKind::backward_weight) granted.tensor = true;
  for (std::int32_t i = index + 1; i < std::ssize(rank_.actions) && !computes(action(i)); ++i) {
    if (action(i).pass == Pass::step) continue;
    granted.tensor = granted.tensor || action(i).kind == ActionKind::tensor_collective;
    granted.context = granted.context || action(i).kind == ActionKind::context_collective;
    granted.expert = granted.expert || action(i).kind == ActionKind::expert_collective;
  }
  return granted;
}

CollectivesInside::OfAxes CollectivesInside::now() {
  const auto all = [&](std::initializer_list<Axis> axes) {
    Inside sum;
    for (const Axis axis : axes) {
      const SentByKind& sent = groups_[axis].sent();
      for (const Bytes bytes : sent.bytes) sum.sent += bytes;
      sum.spent_ns += sent.spent_ns;
    }
    return sum;
  };
  return {all({Axis::tensor}), all({Axis::context}), all({Axis::expert, Axis::expert_tensor})};
}

void CollectivesInside::end_block(std::int32_t index, std::vector<ActionTime>& times) {
  const OfAxes after = now();
  constexpr std::array kinds{ActionKind::tensor_collective, ActionKind::context_collective,
                             ActionKind::expert_collective};
  const std::int32_t micro_batch = rank_.actions[static_cast<std::size_t>(index)].micro_batch;
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    std::int32_t place = index;
    for (std::int32_t i = index + 1; i < std::ssize(rank_.actions); ++i) {
      const Action& a = rank_.actions[static_cast<std::size_t>(i)];
      if (computes(a)) break;
      if (a.kind == kinds[k] && a.micro_batch == micro_batch) place = i;
    }
    times[static_cast<std::size_t>(place)].sent += after[k].sent - before_[k].sent;
    if (place != index) spent_.emplace_back(place, after[k].spent_ns - before_[k].spent_ns);
  }
}

void CollectivesInside::book(std::int32_t index, std::vector<ActionTime>& times) {
  ActionTime& block = times[static_cast<std::size_t>(index)];
  std::int64_t end = block.end_ns;
  for (const auto& [place, spent_ns] : spent_) {
    ActionTime& collective = times[static_cast<std::size_t>(place)];
    collective.is_inside = true;
    collective.end_ns = end;
    collective.start_ns = end -= spent_ns;
  }
  if (!spent_.empty()) block.end_ns = end;
  spent_.clear();
}

}  // namespace plumbline
