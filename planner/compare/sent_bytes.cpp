#include "planner/compare/sent_bytes.h"

#include <algorithm>

#include "core/plan/axis.h"
#include "core/sharding/collective.h"

namespace plumbline {
namespace {

std::optional<SentPurpose> purpose_of(const Action& action) {
  if (std::holds_alternative<TiedSum>(action.what)) return SentPurpose::tied_embedding;
  switch (action.kind()) {
    case ActionKind::tensor_collective: return SentPurpose::tensor;
    case ActionKind::context_collective: return SentPurpose::context;
    case ActionKind::expert_collective: return SentPurpose::expert;
    case ActionKind::send_forward:
    case ActionKind::send_backward: return SentPurpose::pipeline;
    case ActionKind::all_gather_parameters:
      if (const auto* matrices = std::get_if<MatrixGather>(&action.what)) {
        if (matrices->of == MatrixParts::slices) return SentPurpose::tensor;
        return matrices->exchange == MatrixExchange::sum ? SentPurpose::reduction : SentPurpose::gather;
      }
      return SentPurpose::gather;
    case ActionKind::reduce_gradients: return SentPurpose::reduction;
    case ActionKind::offload:
    case ActionKind::fetch: return SentPurpose::offload;
    default: return std::nullopt;
  }
}

}  // namespace

std::string_view group_name(SentPurpose purpose) {
  switch (purpose) {
    case SentPurpose::tensor: return "tensor";
    case SentPurpose::context: return "context";
    case SentPurpose::expert: return "expert";
    case SentPurpose::pipeline:
    case SentPurpose::tied_embedding: return "pipeline";
    case SentPurpose::gather:
    case SentPurpose::reduction: return "data";
    case SentPurpose::offload: return "host";
  }
  return "";
}

std::string collective_name(SentPurpose purpose, const Strategy& s) {
  switch (purpose) {
    case SentPurpose::tensor:
      return s.sequence_parallel == SequenceParallel::on ? "all_gather and reduce_scatter" : "all_reduce";
    case SentPurpose::context: return s.exchanges_heads() ? "all_to_all" : "send_receive";
    case SentPurpose::pipeline: return "send_receive";
    case SentPurpose::expert:
      return s.expert_tensor_parallel > 1 ? "all_to_all, all_gather, reduce_scatter" : "all_to_all";
    case SentPurpose::tied_embedding: return "all_reduce";
    case SentPurpose::gather: return "all_gather";
    case SentPurpose::offload: return "offload and fetch";
    case SentPurpose::reduction: return s.zero_stage > 0 ? "reduce_scatter and all_reduce" : "all_reduce";
  }
  return "";
}

std::optional<SentPurpose> purpose_of(const SentRecord& line) {
  // Groups that the runtime forms alongside the axes: of experts' states and matrices, and of both ends of the
  // pipeline.
  if (line.group == "pipeline_ends") return SentPurpose::tied_embedding;
  if (line.group == group_name(SentPurpose::offload)) return SentPurpose::offload;
  if (line.group == "expert_matrices" || line.group == "expert_shard" || line.group == "expert_replicate" ||
      line.group == "expert_secondary_shard")
    return line.collective == to_text(Collective::all_gather) ? SentPurpose::gather : SentPurpose::reduction;
  const auto axis = std::find_if(all_axes.begin(), all_axes.end(), [&](Axis a) { return to_text(a) == line.group; });
  if (axis == all_axes.end()) return std::nullopt;
  const auto is = [&](Collective kind) { return line.collective == to_text(kind); };
  switch (*axis) {
    case Axis::tensor: return SentPurpose::tensor;
    case Axis::context: return SentPurpose::context;
    case Axis::expert:
    case Axis::expert_tensor: return SentPurpose::expert;
    case Axis::pipeline: return is(Collective::send_receive) ? SentPurpose::pipeline : SentPurpose::tied_embedding;
    case Axis::data:
    case Axis::gradient:
    case Axis::shard:
    case Axis::replicate:
    case Axis::secondary_shard:
    case Axis::expert_gradient: return is(Collective::all_gather) ? SentPurpose::gather : SentPurpose::reduction;
  }
  return std::nullopt;
}

std::map<SentPurpose, Bytes> sent_bytes(const RankProgram& rank) {
  std::map<SentPurpose, Bytes> sums;
  for (const Action& action : rank.actions)
    if (const auto purpose = purpose_of(action)) sums[*purpose] += action.bytes();
  return sums;
}

std::map<SentPurpose, Bytes> sent_bytes(const std::vector<SentRecord>& sent) {
  std::map<SentPurpose, Bytes> sums;
  for (const SentRecord& line : sent)
    if (const auto purpose = purpose_of(line)) sums[*purpose] += line.bytes;
  return sums;
}

}  // namespace plumbline
