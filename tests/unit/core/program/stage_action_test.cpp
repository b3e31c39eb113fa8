// What follows from the payload of an action.

#include "core/program/stage_action.h"

#include "core/program/action_kinds.h"
#include "tests/catch.h"

namespace plumbline {
namespace {

Action action_of(const ActionPayload& what) {
  Action action;
  action.what = what;
  return action;
}

/// "name on stream in pass".
std::string described(const ActionPayload& what) {
  constexpr std::array passes{"forward", "backward", "weight", "step"};
  const Action action = action_of(what);
  return std::string(to_text(action.kind())) + " on " + std::string(to_text(action.stream())) + " in " +
         passes[static_cast<std::size_t>(action.pass())];
}

TEST_CASE("name, stream and pass of an action follow from its payload") {
  CHECK(described(ComputePass{}) == "forward on compute in forward");
  CHECK(described(ComputePass{.of = ComputeKind::backward_input}) == "backward-input on compute in backward");
  CHECK(described(ComputePass{.of = ComputeKind::backward_weight}) == "backward-weight on compute in weight");
  CHECK(described(ComputePass{.of = ComputeKind::recompute}) == "recompute on compute in backward");
  CHECK(described(BlockCollective{.axis = BlockAxis::tensor}) == "tensor-collective on tensor in forward");
  CHECK(described(BlockCollective{.axis = BlockAxis::context, .of = ComputeKind::backward}) ==
        "context-collective on context in backward");
  CHECK(described(BlockCollective{.axis = BlockAxis::expert, .of = ComputeKind::recompute}) ==
        "expert-collective on expert in backward");
  CHECK(described(StageMessage{.end = MessageEnd::send}) == "send-forward on pipeline in forward");
  CHECK(described(StageMessage{.end = MessageEnd::receive, .direction = Direction::backward}) ==
        "receive-backward on pipeline in backward");
  CHECK(described(ParameterGather{}) == "all-gather-parameters on data in forward");
  CHECK(described(ParameterRelease{Direction::backward}) == "release-parameters on data in backward");
  CHECK(described(GradientReduction{.of = GradientsOf::weight}) == "reduce-gradients on data in weight");
  CHECK(described(GradientReduction{.of = GradientsOf::last_passes}) == "reduce-gradients on data in step");
  CHECK(described(HostCopy{.to = CopyTo::host, .segment = 0}) == "offload on copy in forward");
  CHECK(described(HostCopy{.to = CopyTo::device, .segment = 0}) == "fetch on copy in backward");
  CHECK(described(HostCopy{.to = CopyTo::device}) == "fetch on copy in step");
  CHECK(described(PartialSum{}) == "tensor-collective on tensor in step");
  CHECK(described(MatrixGather{}) == "all-gather-parameters on data in step");
  CHECK(described(MatrixGather{.of = MatrixParts::slices}) == "all-gather-parameters on tensor in step");
  CHECK(described(TiedSum{}) == "reduce-gradients on data in step");
  CHECK(described(OptimizerStep{}) == "optimizer-step on compute in step");
}

TEST_CASE("kinds without a segment, bytes, units or a peer have none, and two wait for all ranks") {
  CHECK(action_of(GradientReduction{.segment = 3, .units = {5, 2}, .bytes = Bytes(7)}).segment() == 3);
  CHECK(action_of(GradientReduction{.units = {5, 2}}).units() == UnitRun{5, 2});
  CHECK(action_of(TiedSum{.peer = 4, .bytes = Bytes(7)}).peer() == 4);
  CHECK(action_of(TiedSum{.peer = 4, .bytes = Bytes(7)}).bytes() == Bytes(7));
  const Action step = action_of(OptimizerStep{});
  CHECK(step.segment() == -1);
  CHECK(step.bytes() == Bytes(0));
  CHECK(step.units() == UnitRun{});
  CHECK(step.peer() == -1);
  CHECK(step.barrier() == Barrier::gradient_norm);
  CHECK(action_of(TiedSum{}).barrier() == Barrier::gradients);
  CHECK(action_of(GradientReduction{}).barrier() == Barrier::none);
}

TEST_CASE("what actions have in common is told by what they are") {
  CHECK(weight_gradients_of(action_of(ComputePass{.of = ComputeKind::backward})) != nullptr);
  CHECK(weight_gradients_of(action_of(ComputePass{.of = ComputeKind::backward_input})) == nullptr);
  CHECK(is_replay(action_of(BlockCollective{.of = ComputeKind::recompute})));
  CHECK_FALSE(is_replay(action_of(BlockCollective{.of = ComputeKind::backward})));
  const Action receive = action_of(StageMessage{.end = MessageEnd::receive, .handover = Handover::in_transit});
  CHECK(receives_in_transit(receive));
  CHECK(sent_by(receive) == nullptr);
  CHECK(received_by(receive) == message_of(receive));
  CHECK_FALSE(receives_in_transit(action_of(StageMessage{.end = MessageEnd::send})));
}

}  // namespace
}  // namespace plumbline
