#include <initializer_list>
#include <limits>

#include "core/base/errors.h"
#include "core/program/action_kinds.h"
#include "core/program/buffer_slots.h"

namespace plumbline::passes {
namespace {

/// Of each pass of a chunk, the reduction after which its gradients are whole again only as shards.
std::vector<bool> last_reductions(const Actions& actions) {
  std::vector<bool> last(actions.size(), false);
  auto group = group_of(Action{});
  for (std::size_t i = actions.size(); i-- > 0;) {
    const auto* reduction = std::get_if<GradientReduction>(&actions[i].what);
    if (reduction == nullptr || reduction->pass() == Pass::step) continue;
    last[i] = group_of(actions[i]) != group;
    group = group_of(actions[i]);
  }
  return last;
}

/// Input gradients of split backwards, and what is replayed for them.
std::vector<bool> split_backwards(const Actions& actions) {
  std::vector<bool> split(actions.size(), false);
  bool is_split = false;
  for (std::size_t i = actions.size(); i-- > 0;) {
    if (const auto* pass = std::get_if<ComputePass>(&actions[i].what);
        pass != nullptr && (pass->of == ComputeKind::backward || pass->of == ComputeKind::backward_input))
      is_split = pass->of == ComputeKind::backward_input;
    split[i] = is_split;
  }
  return split;
}

/// Index of the first action that runs once per step, after all micro-batches and their reductions; actions.size() if
/// there is none.
std::size_t first_once_per_step(const Actions& actions) {
  std::size_t end = actions.size();
  while (end > 0 && actions[end - 1].pass() == Pass::step) --end;
  return end;
}

/// Actions behind which secondary shards are gathered before the rank computes anything else: the rest of a unit that
/// goes alongside a backward.
std::vector<bool> before_secondary_gathers(const Actions& actions) {
  std::vector<bool> before(actions.size(), false);
  bool is_gathered = false;
  for (std::size_t i = actions.size(); i-- > 0;) {
    before[i] = is_gathered;
    const auto* gather = std::get_if<ParameterGather>(&actions[i].what);
    if (gather != nullptr && gather->axis == Axis::secondary_shard) is_gathered = true;
    if (computes(actions[i])) is_gathered = false;
  }
  return before;
}

/// Whether logits stay until the weight gradients.
bool has_late_logits(const SegmentSizes& segment) { return segment.memory.late_logits > Bytes(0); }

/// Where in its step an action stands.
struct InStep {
  bool is_last_reduction = false;  ///< of its pass of a chunk
  bool is_split = false;           ///< it is, or replays for, a split backward
  bool reads_secondary = false;    ///< secondary shards are still gathered behind it
  bool makes_late = false;         ///< the first that runs once per step: states that the step makes anew are there
  bool frees_late = false;         ///< the last of the step: they are given back
};

/// Of the action's chunk, over its micro-batches.
std::int32_t whole_gradients(const RankSlots& slots, const Action& a) {
  return slots.whole_gradients[static_cast<std::size_t>(a.chunk)];
}

/// Writes down, action by action, which buffers it allocates, writes, reads and releases.
class BufferUses {
 public:
  BufferUses(const RankContext& context, const RankSlots& slots, RankProgram& rank)
      : context_(context), slots_(slots), rank_(rank), has_whole_gradients_(slots.whole_gradients.size()) {}

  void add(Action& action, const InStep& place) {
    place_ = place;
    segment_ = action.segment();
    action.first_use = static_cast<std::int32_t>(rank_.uses.size());
    if (place.makes_late)
      for (const std::int32_t late : slots_.late) use(late, {Access::allocate, Access::write});
    add_uses(action);
    if (weight_gradients_of(action) != nullptr) --waiting_for_backward_;
    if (has_secondary_ && waiting_for_backward_ == 0 && !place.reads_secondary) {
      use(slots_.secondary_shards, {Access::release});
      has_secondary_ = false;
    }
    if (place.frees_late)
      for (const std::int32_t late : slots_.late) use(late, {Access::release});
    const std::size_t uses = rank_.uses.size() - static_cast<std::size_t>(action.first_use);
    check(uses <= std::numeric_limits<decltype(action.uses)>::max(), "an action uses few buffers");
    action.uses = static_cast<decltype(action.uses)>(uses);
  }

 private:
  void add_uses(const Action& a) {
    switch (a.kind()) {
      case ActionKind::forward: return forward(a);
      case ActionKind::recompute: return recompute(a);
      case ActionKind::backward: return backward(a);
      case ActionKind::backward_input: return backward(a);
      case ActionKind::backward_weight: return backward_weight(a);
      case ActionKind::receive_forward: return receive(slots_.received_activation);
      case ActionKind::receive_backward: return receive(slots_.received_gradient);
      case ActionKind::all_gather_parameters:
        if (const auto* of_pass = std::get_if<ParameterGather>(&a.what)) gather(*of_pass);
        return;
      case ActionKind::release_parameters:
        is_gathered_ = false;
        return use(slots_.gathered_parameters, {Access::release});
      case ActionKind::reduce_gradients: return reduce(a);
      case ActionKind::tensor_collective:
        if (std::holds_alternative<PartialSum>(a.what)) sum_partial();
        return;
      case ActionKind::offload: return copy(a, {Access::read, Access::release});
      case ActionKind::fetch: return copy(a, {Access::allocate, Access::write});
      case ActionKind::optimizer_step:
        use(slots_.gradients, {Access::read});
        use(slots_.optimizer_state, {Access::read, Access::write});
        use(slots_.fetched_states, {Access::read, Access::write});
        use(slots_.gathered_matrices, {Access::allocate, Access::write, Access::read, Access::release});
        return use(slots_.weights, {Access::write});
      default: return;
    }
  }

  void copy(const Action& a, std::initializer_list<Access> accesses) {
    if (std::get<HostCopy>(a.what).is_of_states()) return use(slots_.fetched_states, accesses);
    use(own(segment(a).offloaded, a), accesses);
    use(own(segment(a).offloaded_for_weight, a), accesses);
  }

  /// One slot holds the unit in use and the next one, from the first gather of a pass to its release.
  void gather(const ParameterGather& of_pass) {
    use(slots_.weights, {Access::read});
    if (of_pass.axis == Axis::secondary_shard) use(slots_.secondary_shards, {Access::read});
    if (slots_.gathered_parameters == no_buffer) return use(slots_.weights, {Access::write});
    if (!is_gathered_) use(slots_.gathered_parameters, {Access::allocate});
    is_gathered_ = true;
    use(slots_.gathered_parameters, {Access::write});
  }

  /// What runs alongside the backward that makes the gradients is listed before it.
  void reduce(const Action& a) {
    const bool is_of_chunk = place_.is_last_reduction && whole_gradients(slots_, a) != no_buffer;
    if (is_of_chunk) use(whole_gradients(slots_, a), {Access::read, Access::release});
    if (place_.is_last_reduction && has_gradients_) {
      use(slots_.gathered_gradients, {Access::read, Access::release});
      has_gradients_ = false;
    }
    use(slots_.gradients, {Access::write});
  }

  void sum_partial() {
    use(slots_.packed_partial, {Access::allocate, Access::write, Access::read, Access::release});
    use(slots_.gradients, {Access::write});
  }

  void forward(const Action& a) {
    read_parameters();
    // Shards of what is whole now, for backwards to gather: the first that waits for one makes room for all of them.
    if (!has_secondary_) use(slots_.secondary_shards, {Access::allocate});
    has_secondary_ = true;
    ++waiting_for_backward_;
    use(slots_.secondary_shards, {Access::write});
    read_received();
    use(segment(a).working_forward, {Access::allocate, Access::write});
    use(own(segment(a).saved, a), {Access::allocate, Access::write});
    use(own(segment(a).for_weight, a), {Access::allocate, Access::write});
    use(own(segment(a).offloaded, a), {Access::allocate, Access::write});
    use(own(segment(a).offloaded_for_weight, a), {Access::allocate, Access::write});
    use(own(segment(a).logits, a), {Access::allocate, Access::write});
    if (ends_chunk(a)) use(transferred(slots_.transferred_activation, a, 0), {Access::allocate, Access::write});
    if (segment_ == 0) use(transferred(slots_.transferred_activation, a, -1), {Access::read, Access::release});
    use(segment(a).working_forward, {Access::release});
  }

  [[nodiscard]] bool ends_chunk(const Action& a) const {
    return segment_ + 1 == std::ssize(slots_.segments[static_cast<std::size_t>(a.chunk)]);
  }
  /// Between the action's chunk and the next one, or the one before and it.
  [[nodiscard]] static std::int32_t transferred(const std::vector<std::int32_t>& slots, const Action& a,
                                                std::int32_t offset) {
    const std::int32_t chunk = a.chunk + offset;
    return chunk < 0 ? no_buffer : own(slots[static_cast<std::size_t>(chunk)], a);
  }
  void hand_gradients(const Action& a) {
    if (segment_ == 0) use(transferred(slots_.transferred_gradient, a, -1), {Access::allocate, Access::write});
    if (ends_chunk(a)) use(transferred(slots_.transferred_gradient, a, 0), {Access::read, Access::release});
  }

  void recompute(const Action& a) {
    read_parameters();
    read_saved(a);
    if (segment(a).replayed_ahead != no_buffer) {  // ahead of other replays
      use(segment(a).replayed_ahead, {Access::allocate, Access::write});
      return use(segment(a).working_replay, {Access::allocate, Access::write, Access::release});
    }
    use(working(a), {Access::allocate, Access::write});
    is_restored_ = true;
  }

  void backward(const Action& a) {
    read_parameters();
    read_received();
    if (!is_restored_) use(working(a), {Access::allocate, Access::write});
    is_restored_ = false;
    use(working(a), {Access::read});
    use(segment(a).replayed_ahead, {Access::read});
    use(own(segment(a).logits, a), {Access::read});
    read_saved(a);
    hand_gradients(a);
    if (a.kind() == ActionKind::backward)
      make_weight_gradients(a);
    else
      keep_for_weights(a);
    use(working(a), {Access::release});
    use(segment(a).replayed_ahead, {Access::release});
  }

  /// Input gradients release what weight gradients do not need.
  void keep_for_weights(const Action& a) {
    use(own(segment(a).deferred, a), {Access::allocate, Access::write});
    release_saved(a);
    if (!has_late_logits(context_.segment(a))) use(own(segment(a).logits, a), {Access::release});
  }

  void backward_weight(const Action& a) {
    use(segment(a).working_weight, {Access::allocate, Access::write});
    use(own(segment(a).for_weight, a), {Access::read});
    use(own(segment(a).offloaded_for_weight, a), {Access::read});
    use(own(segment(a).deferred, a), {Access::read});
    write_weight_gradients(a);
    use(own(segment(a).for_weight, a), {Access::release});
    use(own(segment(a).offloaded_for_weight, a), {Access::release});
    use(own(segment(a).deferred, a), {Access::release});
    if (has_late_logits(context_.segment(a))) use(own(segment(a).logits, a), {Access::release});
    use(segment(a).working_weight, {Access::release});
  }

  /// Of a whole backward, or of input gradients alone.
  [[nodiscard]] std::int32_t working(const Action& a) const {
    return place_.is_split ? segment(a).working_input : segment(a).working_backward;
  }

  void make_weight_gradients(const Action& a) {
    write_weight_gradients(a);
    release_saved(a);
    use(own(segment(a).for_weight, a), {Access::release});
    use(own(segment(a).offloaded_for_weight, a), {Access::release});
    use(own(segment(a).logits, a), {Access::release});
  }

  void write_weight_gradients(const Action& a) {
    if (const std::int32_t whole = whole_gradients(slots_, a); whole != no_buffer) {
      const auto chunk = static_cast<std::size_t>(a.chunk);
      if (!has_whole_gradients_[chunk]) use(whole, {Access::allocate});
      has_whole_gradients_[chunk] = true;
      use(whole, {Access::write});
    } else if (slots_.gathered_gradients != no_buffer) {
      if (!has_gradients_) use(slots_.gathered_gradients, {Access::allocate});
      has_gradients_ = true;
      use(slots_.gathered_gradients, {Access::write});
    } else {
      use(slots_.gradients, {Access::write});
    }
  }

  void release_saved(const Action& a) {
    use(own(segment(a).saved, a), {Access::release});
    use(own(segment(a).offloaded, a), {Access::release});
  }
  void read_saved(const Action& a) {
    use(own(segment(a).saved, a), {Access::read});
    use(own(segment(a).for_weight, a), {Access::read});
    use(own(segment(a).offloaded, a), {Access::read});
    use(own(segment(a).offloaded_for_weight, a), {Access::read});
  }
  void receive(std::int32_t buffer) {
    use(buffer, {Access::write});
    received_ = buffer;
  }
  void read_received() {
    use(received_, {Access::read});
    received_ = no_buffer;
  }
  void read_parameters() {
    use(slots_.gathered_parameters == no_buffer ? slots_.weights : slots_.gathered_parameters, {Access::read});
  }

  void use(std::int32_t buffer, std::initializer_list<Access> accesses) {
    if (buffer == no_buffer) return;
    for (const Access access : accesses) rank_.uses.push_back({buffer, access});
  }
  [[nodiscard]] const SegmentSlots& segment(const Action& a) const {
    return slots_.segments[static_cast<std::size_t>(a.chunk)][static_cast<std::size_t>(segment_)];
  }
  /// The micro-batch's own buffer.
  [[nodiscard]] static std::int32_t own(std::int32_t first, const Action& a) {
    return first == no_buffer ? no_buffer : first + a.micro_batch;
  }

  const RankContext& context_;
  const RankSlots& slots_;
  RankProgram& rank_;
  InStep place_;                           ///< of the action at hand
  std::int32_t segment_ = -1;              ///< likewise
  std::int32_t received_ = no_buffer;      ///< what the next compute action reads
  std::int32_t waiting_for_backward_ = 0;  ///< forwards of segments whose weight gradients are not made
  bool has_secondary_ = false;
  bool is_gathered_ = false;
  bool has_gradients_ = false;             ///< that are not reduced yet
  std::vector<bool> has_whole_gradients_;  ///< by chunk
  bool is_restored_ = false;               ///< whether the working set of the next backward is there already
};

}  // namespace

void add_buffers(const RankContext& context, RankProgram& rank) {
  const RankSlots slots = make_slots(context, rank);
  rank.uses.reserve(4 * rank.actions.size());
  BufferUses uses(context, slots, rank);
  const std::vector<bool> last = last_reductions(rank.actions);
  const std::vector<bool> split = split_backwards(rank.actions);
  const std::vector<bool> secondary = before_secondary_gathers(rank.actions);
  const std::size_t end = first_once_per_step(rank.actions);
  const std::size_t count = rank.actions.size();
  for (std::size_t i = 0; i < count; ++i)
    uses.add(rank.actions[i], {last[i], split[i], secondary[i], i == end, end < count && i + 1 == count});
}

}  // namespace plumbline::passes
