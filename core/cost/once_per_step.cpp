#include "core/cost/once_per_step.h"

#include <algorithm>

#include "core/cost/overlap.h"
#include "core/program/gradient_buckets.h"

namespace plumbline {
namespace {

double share_of(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

/// Weights are updated while the first forward of each chunk runs, and while copies run between it and the next pass.
/// The forward is slowed down meanwhile, copies are not. The very first unit is updated before anything runs.
void add_updates(OncePerStep& once, const std::vector<StageShare>& chunks, const RankSharing& rank) {
  const auto unit = [&](std::size_t c) {
    return c < chunks.size() ? part(chunks[c].shared.update, unit_share(*chunks[c].stage)) : Picoseconds(0);
  };
  if (rank.updates == UpdateGathers::in_order) {
    for (const StageShare& chunk : chunks) once.start += chunk.shared.update;
    return;
  }
  once.start = unit(0);
  const bool is_by_chunk = rank.updates == UpdateGathers::by_chunk;
  for (std::size_t c = 0; c < chunks.size(); ++c) {
    const CopyTimes& of_chunk = chunks[c].stage->copies;
    const Picoseconds copies = rank.in_pipeline ? of_chunk.forward : of_chunk.total();
    const Picoseconds forward = chunks[c].stage->forward_total() - of_chunk.forward + chunks[c].times->copying;
    Picoseconds awaited = chunks[c].shared.update - unit(c) + unit(c + 1);
    Picoseconds ahead(0);
    if (is_by_chunk) {
      awaited = c == 0 ? chunks[c].shared.update - unit(c) : Picoseconds(0);
      if (c + 1 < chunks.size()) ahead = chunks[c + 1].shared.update;
    }
    const Overlapped both = overlapped(forward, awaited + ahead, rank.slowdown);
    const Picoseconds awaited_end = awaited + part(std::min(forward, awaited), rank.slowdown);
    once.of_chunk[c].forward = both.compute_end - forward;
    const Picoseconds end = both.compute_end + copies;
    once.of_chunk[c].gathering = std::max(Picoseconds(0), (is_by_chunk ? awaited_end : both.end) - end);
    once.of_chunk[c].arriving = std::max(Picoseconds(0), both.end - end - once.of_chunk[c].gathering);
  }
}

/// Reduced gradients, when the last backward of each chunk has ended: the rank waits, its message does not.
void add_reductions_of_chunks(OncePerStep& once, const std::vector<StageShare>& chunks) {
  for (std::size_t c = 0; c < chunks.size(); ++c)
    once.of_chunk[c].scattering =
        chunks[c].times->scattered_once + chunks[c].shared.scatter + chunks[c].shared.reduction;
}

/// Reduced gradients: alongside the last backward of each chunk, the last chunk first, and after all of them.
void add_reductions(OncePerStep& once, const std::vector<StageShare>& chunks, const RankSharing& rank) {
  const SharingTimes& of_rank = rank.of_rank;
  const ReductionRule& rule = rank.rule;
  const auto early = [&](Picoseconds whole) { return whole - part(whole, rule.late_share); };
  Picoseconds all_early(0);
  for (const StageShare& chunk : chunks) {
    all_early += early(chunk.shared.reduction);
    if (rule.is_by_chunk) break;
  }
  GradientBuckets<Picoseconds> buckets(all_early, part(of_rank.reduction, rule.bucket_share));
  for (std::size_t c = chunks.size(); c-- > 0;) {
    const StageShare& chunk = chunks[c];
    // What comes back from the host does so before a backward, which alone makes gradients.
    const Picoseconds fetched = rank.splits_backward ? Picoseconds(0) : chunk.stage->copies.backward;
    const Picoseconds whole = chunk.stage->backward_total() - fetched + chunk.times->copying;
    const Picoseconds compute =
        (rank.splits_backward ? chunk.stage->backward_weight_total() : whole) + chunk.times->accumulation;
    const Picoseconds gather = rank.splits_backward ? Picoseconds(0) : gathered_for_backward(chunk.shared);
    const Picoseconds first = first_units(gather, *chunk.stage, rank.prefetch);
    const Picoseconds last =
        std::min(early(chunk.shared.scatter), last_units(chunk.shared.scatter, of_rank.scatter, *chunk.stage, rule));
    const Picoseconds reduced = early(chunk.shared.reduction);
    const auto reduction = rule.is_by_chunk && c > 0 ? GradientBuckets<Picoseconds>::Ready{Picoseconds(0), reduced}
                                                     : buckets.add(reduced, chunk.stage->units);
    const Overlapped both =
        overlapped(compute, gather - first + early(chunk.shared.scatter) - last + reduction.overlapped, rank.slowdown);
    const Picoseconds end = first + (rank.waits ? both.end + last : both.compute_end);
    once.of_chunk[c].backward = rank.splits_backward
                                    ? end - chunk.times->backward_weight
                                    : end - compute - chunk.times->gather_backward - chunk.times->scatter;
    once.of_chunk[c].reducing = fetched + (rank.waits ? end : first + both.end) + reduction.after;
  }
  const Picoseconds late = of_rank.reduction + of_rank.scatter - early(of_rank.reduction) - early(of_rank.scatter);
  once.after = late;
}

}  // namespace

double unit_share(const StageSizes& stage) { return 1 / static_cast<double>(std::max<std::int64_t>(1, stage.units)); }

SharingTimes sharing_of_stage(const SharingTimes& of_rank, const StageSizes& stage, const StageSizes& rank) {
  const double trained = share_of(stage.parameters.trained_on(rank.parameters), rank.parameters.trained());
  const double all = share_of(stage.parameters.total_on(rank.parameters), rank.parameters.total());
  return {part(of_rank.gather, all),      part(of_rank.regather, share_of(stage.regathered, rank.regathered)),
          part(of_rank.scatter, trained), part(of_rank.reduction, trained),
          part(of_rank.update, trained),  part(of_rank.gather_backward, all)};
}

Picoseconds first_units(Picoseconds gather, const StageSizes& stage, ParameterPrefetch prefetch) {
  return prefetch == ParameterPrefetch::on ? part(gather, unit_share(stage)) : gather;
}

Picoseconds last_units(Picoseconds scatter, Picoseconds of_rank, const StageSizes& stage, const ReductionRule& rule) {
  return std::min(scatter, std::max(part(scatter, unit_share(stage)), part(of_rank, rule.scatter_bucket_share)));
}

OncePerStep once_per_step(const std::vector<StageShare>& chunks, const RankSharing& rank) {
  OncePerStep once{std::vector<OnceTimes>(chunks.size()), Picoseconds(0), Picoseconds(0)};
  add_updates(once, chunks, rank);
  if (rank.reduces_chunks)
    add_reductions_of_chunks(once, chunks);
  else
    add_reductions(once, chunks, rank);
  return once;
}

}  // namespace plumbline
