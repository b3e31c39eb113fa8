#pragma once
/// \file simulated.h: one legal strategy lowered and simulated: what `simulate` answers, and the search's finalists.
///
/// Model: the order is the named schedule's, or any other of the same shape. What a rank holds and what it takes follow
/// the order's placement of stages; chunks, recompute, sharing of links and of states are those of the strategy.
/// A program of single blocks has their programs, as this runtime runs them (core/program/block_programs.h).
/// Of very many micro-batches a short program is lowered and simulated where that gives the same figures
/// (core/simulate/steady_state.h): Simulation::left_out says what is not in it.
/// Not modelled: whether an order of one's own hides reductions or exchanges of experts better or worse than the named
/// schedule, or ends steps otherwise; it is priced as the named one is (step_time.h). Checked against:
/// tests/unit/planner/pricing/simulated_test.cpp; tests/property/steady_state_test.cpp.

#include <cstdint>
#include <memory>
#include <optional>

#include "core/cost/replays.h"
#include "core/simulate/simulation.h"
#include "planner/question/question.h"
#include "planner/question/stop_request.h"

namespace plumbline {

/// Whether every micro-batch is lowered, as those need who execute the program, or of very many those that tell.
enum class Extent : std::uint8_t { whole, informative };

struct SimulationOptions {
  Granularity granularity = Granularity::chunk;
  std::optional<ComputeSchedule> order;  ///< instead of the named schedule's: of the strategy's shape (pipeline_shape)
  TimelineOptions timeline;
  Extent extent = Extent::whole;
  Scattering scattering = Scattering::by_bucket;
};

struct SimulatedPlan {
  LoweringInput sizes;          ///< that the program was lowered from
  std::vector<Replay> replays;  ///< by execution: what its backward computes again
  Program program;
  Simulation simulation;
  /// Of the question's blocks, for whoever asks for those of a program of chunks: good while its graph is.
  std::shared_ptr<KnownPrograms> programs;
};

/// Requires an order without faults and deadlock (action_fault, dry_run).
/// Throws InternalError when the program would wait for ever or misuse a buffer: our bug, not the strategy's.
[[nodiscard]] SimulatedPlan simulated(const Question& question, const Strategy& strategy,
                                      const SimulationOptions& options = {});

/// A program that has no short one is simulated for its step alone up to so many forwards and backwards of chunks; ten
/// times as many take seconds and gigabytes.
inline constexpr std::int64_t most_simulated_passes = std::int64_t{1} << 20;
/// The step of a strategy's program of chunks, as `simulated` says; nothing where it was stopped or is too long.
/// `known`: programs of the question's blocks (priced.h).
[[nodiscard]] std::optional<Picoseconds> simulated_step(const Question& question, const Strategy& strategy,
                                                        const StopRequest& stop, KnownPrograms* known = nullptr);

}  // namespace plumbline
