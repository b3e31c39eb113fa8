#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <variant>

#include "core/base/errors.h"
#include "core/program/action_kinds.h"
#include "core/program/passes.h"

namespace plumbline::passes {
namespace {

/// What shares states over data-parallel ranks, and sums over tensor-parallel ranks of gradients that were summed over
/// those before (Megatron-LM's finalize_model_grads).
bool follows_shared(const Action& a) {
  return a.stream() == Stream::data || std::holds_alternative<PartialSum>(a.what) ||
         std::holds_alternative<MatrixGather>(a.what);
}

/// A rank does one thing after another; sends, what arrives in transit, and queues of their own occupy nobody.
class RankLinks {
 public:
  RankLinks(RankProgram& rank, const LoweringInput& input)
      : rank_(rank), is_by_chunk_(input.zero_stage < 3 && input.updates == UpdateGathers::by_chunk) {
    gathered_.resize(is_by_chunk_ ? rank.chunks.size() : 1, -1);
  }

  /// How many actions run alongside others.
  std::int64_t link() {
    for (std::int32_t i = 0; i < std::ssize(rank_.actions); ++i) {
      Action& action = rank_.actions[static_cast<std::size_t>(i)];
      if (action.issue != Issue::in_order)
        link_overlapped(action, i);
      else if (receives_in_transit(action))
        arrived_ = i;
      else
        link_in_order(action, i);
    }
    return overlapped_;
  }

 private:
  void link_overlapped(Action& action, std::int32_t i) {
    ++overlapped_;
    action.needs = {last_, -1, -1, -1};
    if (action.issue == Issue::with_last) {
      check(last_ >= 0, "an action begins with one before it");
      action.needs = rank_.actions[static_cast<std::size_t>(last_)].needs;
    }
    const auto* copy = std::get_if<HostCopy>(&action.what);
    std::int32_t& queue = copy != nullptr ? copied_ : shared_;
    action.needs[copy != nullptr ? 3 : 2] = queue;
    queue = i;
    if (std::holds_alternative<ParameterGather>(action.what)) gathered(action) = i;
    if (copy == nullptr) return;
    if (copy->to == CopyTo::host) left_ = i;
    if (copy->to == CopyTo::device && !copy->is_of_states()) fetched_[place_of(action)] = i;
  }

  void link_in_order(Action& action, std::int32_t i) {
    action.needs = {last_, arrived_, -1, -1};
    if (sent_by(action) != nullptr) return;
    if (const auto* pass = std::get_if<ComputePass>(&action.what))
      link_segment(action, *pass);
    else if (std::holds_alternative<ParameterRelease>(action.what))
      action.needs[2] = gathered(action);
    else if (follows_shared(action))
      action.needs[2] = shared_;
    arrived_ = -1;
    last_ = i;
  }
  using Place = std::tuple<std::int32_t, std::int32_t, std::int32_t>;  ///< chunk, micro-batch, segment
  static Place place_of(const Action& a) { return {a.chunk, a.micro_batch, a.segment()}; }

  /// The first action of a segment's run waits for its parameters, for what the host held, and for what left alongside
  /// the run before: one of both is the later in the queue of copies.
  void link_segment(Action& action, const ComputePass& of) {
    const std::tuple segment(action.chunk, action.micro_batch, of.pass(), of.segment);
    if (segment == segment_) return;
    segment_ = segment;
    if (!is_inside_unit(action)) action.needs[2] = gathered(action);
    action.needs[3] = std::exchange(left_, -1);
    if (fetched_.empty() || of.pass() != Pass::backward) return;
    const auto fetched = fetched_.find(place_of(action));
    if (fetched == fetched_.end()) return;
    action.needs[3] = std::max(action.needs[3], fetched->second);
    fetched_.erase(fetched);
  }

  /// Whether the unit was gathered for a segment before it in the same pass.
  [[nodiscard]] bool is_inside_unit(const Action& action) const {
    const std::vector<Segment>& segments = rank_.chunks[static_cast<std::size_t>(action.chunk)];
    const std::int32_t segment = action.segment();
    const std::int32_t before = segment + (action.pass() == Pass::forward ? -1 : 1);
    const std::int32_t unit = segments[static_cast<std::size_t>(segment)].unit;
    return unit >= 0 && before >= 0 && before < std::ssize(segments) &&
           segments[static_cast<std::size_t>(before)].unit == unit;
  }

  /// The last gather that the passes of this one's chunk wait for.
  [[nodiscard]] std::int32_t& gathered(const Action& action) {
    return gathered_[is_by_chunk_ ? static_cast<std::size_t>(action.chunk) : 0];
  }

  RankProgram& rank_;
  bool is_by_chunk_;
  std::vector<std::int32_t> gathered_;  ///< by chunk, or one for all
  std::int32_t last_ = -1;
  std::int32_t arrived_ = -1;
  std::int32_t shared_ = -1;  ///< last of the data stream's queue
  std::int32_t copied_ = -1;
  std::int32_t left_ = -1;                 ///< the last copy to the host
  std::map<Place, std::int32_t> fetched_;  ///< what came back for a backward that is to come
  std::int64_t overlapped_ = 0;
  decltype(segment_of(Action{})) segment_{-1, -1, Pass::step, -1};
};

/// Where each stage's results are sent: by direction, receiving stage and micro-batch.
class Mailboxes {
 public:
  explicit Mailboxes(const Program& program)
      : program_(program), sends_(static_cast<std::size_t>(program.shape.stages()) * 2 * micro_batches(), -1) {}

  [[nodiscard]] std::int32_t& of(std::int32_t rank, const Action& a, const StageMessage& message) {
    const bool forward = message.direction == Direction::forward;
    std::int32_t stage = stage_of(program_.placement, program_.shape.pipeline_stages, rank, a.chunk);
    if (message.end == MessageEnd::send) stage += forward ? 1 : -1;
    const std::size_t direction = forward ? 0 : 1;
    return sends_[(static_cast<std::size_t>(stage) * 2 + direction) * micro_batches() +
                  static_cast<std::size_t>(a.micro_batch)];
  }

 private:
  [[nodiscard]] std::size_t micro_batches() const { return static_cast<std::size_t>(program_.shape.micro_batches); }
  const Program& program_;
  std::vector<std::int32_t> sends_;
};

}  // namespace

void link(Program& program, const LoweringInput& input) {
  Mailboxes mailboxes(program);
  for (RankProgram& rank : program.ranks) program.overlapped_actions += RankLinks(rank, input).link();
  std::int64_t unmatched = 0;
  // The end of a message that is seen first is kept until the other one is.
  for (std::int32_t rank = 0; rank < std::ssize(program.ranks); ++rank) {
    std::vector<Action>& actions = program.ranks[static_cast<std::size_t>(rank)].actions;
    for (std::int32_t i = 0; i < std::ssize(actions); ++i) {
      Action& action = actions[static_cast<std::size_t>(i)];
      auto* message = std::get_if<StageMessage>(&action.what);
      if (message == nullptr) continue;
      std::int32_t& other = mailboxes.of(rank, action, *message);
      if (other < 0) {
        other = i;
        ++unmatched;
        continue;
      }
      std::vector<Action>& of_peer = program.ranks[static_cast<std::size_t>(message->peer)].actions;
      --unmatched;
      message->peer_action = other;
      std::get<StageMessage>(of_peer[static_cast<std::size_t>(other)].what).peer_action = i;
    }
  }
  check(unmatched == 0, "who receives is sent to");
}

}  // namespace plumbline::passes
