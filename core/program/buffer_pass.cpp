#include <initializer_list>

#include "core/program/buffer_slots.h"

namespace plumbline::passes {
namespace {

/// Writes down, action by action, which buffers it allocates, writes, reads and releases.
class BufferUses {
 public:
  BufferUses(const RankSlots& slots, RankProgram& rank) : slots_(slots), rank_(rank) {}

  void add(Action& action) {
    action.first_use = static_cast<std::int32_t>(rank_.uses.size());
    add_uses(action);
    action.uses = static_cast<std::int32_t>(rank_.uses.size()) - action.first_use;
  }

 private:
  void add_uses(const Action& a) {
    switch (a.kind) {
      case ActionKind::forward: return forward(a);
      case ActionKind::recompute: return recompute(a);
      case ActionKind::backward: return backward(a);
      case ActionKind::backward_input: return backward(a);
      case ActionKind::backward_weight: return backward_weight(a);
      case ActionKind::receive_forward: return receive(slots_.received_activation);
      case ActionKind::receive_backward: return receive(slots_.received_gradient);
      case ActionKind::all_gather_parameters:
        use(slots_.weights, {Access::read});
        return use(slots_.gathered_parameters, {Access::allocate, Access::write});
      case ActionKind::release_parameters: return use(slots_.gathered_parameters, {Access::release});
      case ActionKind::reduce_gradients:
        if (a.pass != Pass::step) use(slots_.gathered_gradients, {Access::read, Access::release});
        return use(slots_.gradients, {Access::write});
      case ActionKind::optimizer_step:
        use(slots_.gradients, {Access::read});
        use(slots_.optimizer_state, {Access::read, Access::write});
        return use(slots_.weights, {Access::write});
      default: return;
    }
  }

  void forward(const Action& a) {
    read_parameters();
    read_received();
    use(piece(a).working_forward, {Access::allocate, Access::write});
    use(own(piece(a).saved, a), {Access::allocate, Access::write});
    use(own(piece(a).logits, a), {Access::allocate, Access::write});
    use(piece(a).working_forward, {Access::release});
  }

  void recompute(const Action& a) {
    read_parameters();
    use(own(piece(a).saved, a), {Access::read});
    use(piece(a).working_backward, {Access::allocate, Access::write});
    is_restored_ = true;
  }

  void backward(const Action& a) {
    read_parameters();
    read_received();
    if (!is_restored_) use(piece(a).working_backward, {Access::allocate, Access::write});
    is_restored_ = false;
    use(piece(a).working_backward, {Access::read});
    use(own(piece(a).logits, a), {Access::read, Access::release});
    use(own(piece(a).saved, a), {Access::read});
    if (a.kind == ActionKind::backward) make_weight_gradients(a);
    use(piece(a).working_backward, {Access::release});
  }

  void backward_weight(const Action& a) {
    use(piece(a).working_forward, {Access::allocate, Access::write});
    use(own(piece(a).saved, a), {Access::read});
    make_weight_gradients(a);
    use(piece(a).working_forward, {Access::release});
  }

  void make_weight_gradients(const Action& a) {
    if (slots_.gathered_gradients != no_buffer)
      use(slots_.gathered_gradients, {Access::allocate, Access::write});
    else
      use(slots_.gradients, {Access::write});
    use(own(piece(a).saved, a), {Access::release});
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
  [[nodiscard]] const PieceSlots& piece(const Action& a) const {
    return slots_.pieces[static_cast<std::size_t>(a.chunk)][static_cast<std::size_t>(a.piece)];
  }
  /// The micro-batch's own buffer.
  [[nodiscard]] static std::int32_t own(std::int32_t first, const Action& a) {
    return first == no_buffer ? no_buffer : first + a.micro_batch;
  }

  const RankSlots& slots_;
  RankProgram& rank_;
  std::int32_t received_ = no_buffer;  ///< what the next compute action reads
  bool is_restored_ = false;           ///< whether the working set of the next backward is there already
};

}  // namespace

void add_buffers(const RankContext& context, RankProgram& rank) {
  const RankSlots slots = make_slots(context, rank);
  rank.uses.reserve(4 * rank.actions.size());
  BufferUses uses(slots, rank);
  for (Action& action : rank.actions) uses.add(action);
}

}  // namespace plumbline::passes
