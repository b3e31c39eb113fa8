#include "planner/pricing/simulated.h"

#include "core/base/errors.h"
#include "core/program/block_programs.h"
#include "core/program/buffer_check.h"
#include "core/program/repeating_order.h"
#include "planner/pricing/priced.h"

namespace plumbline {

namespace {

/// The chunks and the recompute of the strategy, on the ranks where `placed` puts them.
StageLayout layout_on(StagePlacement placed, const Question& question, const Strategy& strategy,
                      const std::vector<BlockCost>& blocks) {
  StageLayout named = layout_of(question, strategy, blocks);
  if (placement(strategy.schedule) == placed) return named;
  return stage_layout(question.graph(), std::move(named.arrangement), strategy.pipeline_stages, placed,
                      question.stage_sites(strategy));
}

/// One priced plan, and its programs of all or of fewer micro-batches.
class PlanSimulator {
 public:
  PlanSimulator(const Question& question, const Strategy& strategy, const SimulationOptions& options,
                KnownPrograms* known = nullptr)
      : PlanSimulator(question, strategy, options, placement(strategy.schedule), known) {}
  /// `placed`: where the order that is simulated has the stages.
  PlanSimulator(const Question& question, const Strategy& strategy, const SimulationOptions& options,
                StagePlacement placed, KnownPrograms* known = nullptr)
      : question_(question),
        options_(options),
        stack_(question.calibration().stack),
        strategy_(strategy),
        blocks_(block_costs(question, strategy_, known)),
        layout_(layout_on(placed, question, strategy_, blocks_)),
        ranks_(question.graph(), layout_, blocks_),
        plan_{question.graph(), strategy_, question.training(), stack_, question.step_pricer(), ranks_, blocks_},
        sizes_(plan_.sizes()),
        segments_(sizes_, options.granularity) {
    if (options.granularity == Granularity::chunk) return;
    KnownPrograms own;
    programs_ = block_programs(question.graph(), shard_of(strategy_, question.training()), replays(),
                               known != nullptr ? *known : own);
  }

  SimulatedPlan whole(ComputeSchedule order) {
    Attempt simulated = attempt(std::move(order)).value();
    return finished(std::move(simulated), {});
  }

  /// Nothing where the short programs have no steady state.
  std::optional<SimulatedPlan> informative() {
    auto found = shortened();
    if (!found) return std::nullopt;
    return finished(std::move(found->attempt), found->left_out);
  }

  /// Nothing where it was stopped or is too long.
  std::optional<Picoseconds> step(const StopRequest& stop) {
    stop_ = stop;
    has_buffers_ = false;
    if (auto found = shortened()) return step_of(found->attempt, found->left_out.time);
    const PipelineShape shape = pipeline_shape(strategy_);
    if (passes_of(shape) > most_simulated_passes || stop_.stop_requested()) return std::nullopt;
    auto whole = attempt(compute_schedule(strategy_.schedule, shape));
    if (!whole) return std::nullopt;
    return step_of(*whole, Picoseconds(0));
  }

 private:
  struct Attempt {
    SimulatedPlan plan;
    ActionTimes times;
    Timeline timeline;
  };
  struct Shortened {
    Attempt attempt;
    LeftOut left_out;
  };

  [[nodiscard]] std::vector<Replay> replays() const {
    return replays_of(question_.graph(), blocks_, layout_.arrangement, strategy_.recompute.mode);
  }

  [[nodiscard]] std::int64_t passes_of(const PipelineShape& shape) const {
    return 2 * std::int64_t{strategy_.chunks()} * shape.micro_batches;
  }

  static Picoseconds step_of(Attempt& simulated, Picoseconds left_out) {
    wait_for_links(simulated.timeline, simulated.times, left_out);
    return simulated.timeline.step + left_out;
  }

  std::optional<Shortened> shortened() {
    const PipelineShape shape = pipeline_shape(strategy_);
    // Where a period is one micro-batch, the ranks of a pipeline take several until they move alike.
    const bool is_short = repeating_period(strategy_.schedule, strategy_.pipeline_stages) == 1;
    // Programs that are not periodic by then rarely become so, and four times as many periods take seconds.
    constexpr std::int32_t most_periods = 4096;
    for (std::int32_t periods = is_short ? 16 : 4; periods <= most_periods; periods *= is_short ? 4 : 2) {
      const auto shorter = short_shape(strategy_.schedule, shape, periods);
      if (!shorter || passes_of(shorter->shape) > most_simulated_passes || stop_.stop_requested()) return std::nullopt;
      if (auto found = shortened(*shorter)) return found;
    }
    return std::nullopt;
  }

  std::optional<Shortened> shortened(ShortShape shorter) {
    const OrderCut cut{*repeating_from(strategy_.schedule, strategy_.pipeline_stages), shorter.cut,
                       repeating_period(strategy_.schedule, strategy_.pipeline_stages)};
    for (;;) {
      auto simulated = attempt(compute_schedule(strategy_.schedule, shorter.shape));
      if (!simulated || simulated->timeline.stall) return std::nullopt;
      const auto steady = steady_state(simulated->plan.program, simulated->timeline, cut);
      if (!steady) return std::nullopt;
      const std::int64_t more = strategy_.micro_batches - shorter.shape.micro_batches;
      if (more % steady->micro_batches == 0) return Shortened{std::move(*simulated), left_out(*steady, more)};
      shorter.shape.micro_batches += static_cast<std::int32_t>(more % steady->micro_batches);
    }
  }

  /// Nothing where it was stopped.
  std::optional<Attempt> attempt(ComputeSchedule order) {
    Attempt result;
    result.plan.sizes = lowering_input(sizes_, segments_, std::move(order));
    result.plan.sizes.blocks = programs_;
    if (options_.scattering == Scattering::by_unit) result.plan.sizes = scattered_by_unit(std::move(result.plan.sizes));
    result.plan.program = has_buffers_ ? lower(result.plan.sizes) : lower_without_buffers(result.plan.sizes);
    if (has_buffers_)
      if (const auto fault = buffer_fault(result.plan.program)) check(false, *fault);
    if (stop_.stop_requested()) return std::nullopt;
    result.times = action_times(plan_, segments_, result.plan.program);
    result.timeline = timeline(result.plan.program, result.times, options_.timeline);
    if (stop_.stop_requested()) return std::nullopt;
    return result;
  }

  SimulatedPlan finished(Attempt simulated, const LeftOut& left_out) {
    SimulatedPlan result = std::move(simulated.plan);
    result.replays = replays();
    result.simulation = simulation_of(result.program, simulated.times, std::move(simulated.timeline),
                                      stack_.memory.fragmentation_fraction, options_.timeline, left_out);
    if (left_out.micro_batches > 0) renumber(result.program, left_out);
    return result;
  }

  const Question& question_;
  const SimulationOptions& options_;
  StopRequest stop_;
  bool has_buffers_ = true;
  const StackCalibration& stack_;
  Strategy strategy_;
  std::vector<BlockCost> blocks_;
  StageLayout layout_;
  StageTable ranks_;
  PricedPlan plan_;
  SizedPlan sizes_;
  SegmentTable segments_;
  BlockPrograms programs_;
};

}  // namespace

SimulatedPlan simulated(const Question& question, const Strategy& asked, const SimulationOptions& options) {
  const auto programs = std::make_shared<KnownPrograms>();
  const auto with_programs = [&](SimulatedPlan plan) {
    plan.programs = programs;
    return plan;
  };
  if (options.extent == Extent::informative && !options.order)
    if (auto plan = PlanSimulator(question, asked, options, programs.get()).informative())
      return with_programs(std::move(*plan));
  ComputeSchedule order = options.order ? *options.order : compute_schedule(asked.schedule, pipeline_shape(asked));
  check(order.shape == pipeline_shape(asked), "an order is read against the strategy's shape");
  PlanSimulator simulator(question, asked, options, order.placement, programs.get());
  return with_programs(simulator.whole(std::move(order)));
}

std::optional<Picoseconds> simulated_step(const Question& question, const Strategy& strategy, const StopRequest& stop,
                                          KnownPrograms* known) {
  return PlanSimulator(question, strategy, {}, known).step(stop);
}

}  // namespace plumbline
