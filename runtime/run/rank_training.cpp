#include "runtime/run/rank_training.h"

#include <chrono>
#include <cmath>
#include <cstring>

#include "runtime/checkpoint/checkpoint_series.h"
#include "runtime/device/failed_work.h"
#include "runtime/execution/parameter_init.h"
#include "runtime/execution/replica_check.h"
#include "runtime/run/device_memory.h"
#include "runtime/run/process_memory.h"
#include "runtime/run/rank_description.h"
#include "runtime/run/rank_records.h"
#include "runtime/run/run_settings.h"

namespace plumbline {
namespace {

const RankProgram& program_of(const TrainingJob& job, const RankGroups& groups) {
  return job.program.ranks[static_cast<std::size_t>(groups.index(Axis::pipeline))];
}

LossScaleRule rule_of(const TrainingJob& job) {
  if (scales_loss(job.training.precision)) return job.loss_scale;
  LossScaleRule none;
  none.initial = none.smallest = none.largest = 1;
  return none;
}

std::unique_ptr<ComputeDevice> made_device(const DeviceOptions& options, std::int32_t rank) {
  return options.make ? options.make(rank) : std::make_unique<CpuDevice>(options.lanes);
}

std::unique_ptr<WorkGraph> graph_of(ComputeDevice& device) {
  auto graph = device.make_graph();
  if (graph == nullptr) throw InputError({"--graph", "this device records no graphs", "--backend cuda", ""});
  return graph;
}

}  // namespace

RankTraining::RankTraining(World& world, const TrainingJob& job, RunOptions options,
                           std::function<void(std::int32_t)> report_action)
    : job_(job),
      options_(std::move(options)),
      observer_(options_.observer != nullptr ? *options_.observer : silent_observer_),
      probe_(options_.tests.probe != nullptr ? *options_.tests.probe : silent_probe_),
      report_action_(std::move(report_action)),
      device_(made_device(options_.device, world.rank())),
      groups_(world, job.strategy),
      backend_(*device_, options_.tests.poison),
      parameters_(parameter_layout(job.graph, job.strategy, job.training, executions_of(program_of(job, groups_)),
                                   world.rank()),
                  job.strategy, job.training, groups_, backend_, *device_),
      share_(job.strategy, job.training, groups_),
      rank_device_(groups_, backend_, *device_),
      values_(groups_, rank_device_),
      feed_(options_.data, static_cast<std::int32_t>(job.training.sequence_length), options_.seed),
      plan_{job.graph, job.strategy, job.training, job.program, job.constants, job.routing, job.fp8_scaling, probe_},
      executor_(plan_, options_.tests.strict_buffers ? ExecutionMode::strict : ExecutionMode::plain, share_,
                rank_device_, parameters_, values_),
      evaluation_(job.strategy, feed_, share_, rank_device_, executor_),
      scale_rule_(rule_of(job)),
      early_stopping_(options_.evaluation.patience),
      checkpoint_(world, job, parameters_),
      lengths_(program_of(job, groups_).actions.size()) {
  require_valid(scale_rule_);
  state_.loss_scale.scale = scale_rule_.initial;
  values_.scalars.set(state_);
  if (options_.first_weights)
    parameters_.state.initialise(options_.first_weights);
  else
    parameters_.state.initialise(options_.initialisation, options_.seed);
  executor_.use(memory_.emplace(plan_, share_, rank_device_, parameters_, executor_),
                options_.device.launch == StepLaunch::graph ? graph_of(*device_) : nullptr);
  sent_outside_steps_.resize(named_groups().size());
}

void RankTraining::run() {
  try {
    observer_.on_ready(groups_.rank(), [this] { return description(); });
    if (!options_.checkpoints.resume.empty()) resume();
    const bool saves = !options_.checkpoints.folder.empty();
    for (std::int64_t i = 0; i < options_.steps; ++i) {
      step(first_step_ + i);
      const bool is_last = i + 1 == options_.steps;
      const bool ends_early = evaluate(steps_.back(), is_last);
      const bool is_stopped = stopped_by_ != 0 && !is_last && !ends_early;
      const bool is_due = options_.checkpoints.every > 0 && (i + 1) % options_.checkpoints.every == 0;
      // A checkpoint of replicas that differ would be of no use, and be trusted.
      const bool ends = is_last || is_stopped || ends_early;
      if (ends || (saves && is_due)) require_equal_replicas(parameters_, groups_.replicas());
      if (saves && (ends || is_due)) save(first_step_ + i + 1);
      if (ends && !is_stopped) generate(steps_.back());
      const bool speaks = groups_.rank() == 0;
      if (speaks && ends_early && !is_last) observer_.on_early_stop(early_stopping_.state());
      if (speaks) observer_.on_step(steps_.back());
      if (speaks && is_stopped) observer_.on_stop(stopped_by_);
      if (ends) break;
    }
    device_memory_ = device_memory(*device_, backend_, groups_.everyone());
  } catch (const InputError&) {
    throw;
  } catch (const InternalError& bug) {
    throw InternalError(place() + ": " + bug.what());
  } catch (const TrainingDiverged&) {
    throw;
  } catch (const std::exception& error) {
    throw RunFailure(place(&error) + ": " + error.what());
  }
}

std::string RankTraining::place(const std::exception* error) const {
  const std::string here =
      "rank " + std::to_string(groups_.rank()) + " (stage " + std::to_string(executor_.stage()) + ")";
  if (saving_ >= 0) return here + " writing the checkpoint of step " + std::to_string(saving_);
  if (const std::string graph = executor_.graph().place(); !graph.empty()) return here + " " + graph;
  if (at_action_ < 0) return here + " between two steps";
  const auto named = [&](std::int32_t action) {
    return to_text(executor_.program().actions[static_cast<std::size_t>(action)]);
  };
  const ActionClock& clock = executor_.clock();
  if (clock.waiting_for() >= 0) return here + " at " + named(clock.waiting_for());
  const bool is_of_work = dynamic_cast<const FailedWork*>(error) != nullptr;
  const std::int32_t first = is_of_work ? clock.first_open(at_action_) : at_action_;
  return here + " at " + named(first) + (first == at_action_ ? "" : ", or behind it, up to " + named(at_action_));
}

void RankTraining::step(std::int64_t number) {
  const auto begin = std::chrono::steady_clock::now();
  StepRecord record;
  record.step = number;
  record.learning_rate = learning_rate(job_.learning_rate, number);
  executor_.show_logits(nullptr);
  if (number == first_step_) executor_.show_logits([this](const LocalLogits& logits) { probe_.on_logits(logits); });
  values_.inputs.set({options_.seed * 0x9e3779b97f4a7c15U + static_cast<std::uint64_t>(number),
                      static_cast<float>(record.learning_rate)});
  const Bytes peak_before = backend_.live().peak().device_total();
  const BatchSource batches = [&](const BatchLayout& layout, std::int32_t micro_batch) {
    return feed_.micro_batch(layout, number, micro_batch);
  };
  executor_.run_step(
      number, batches, [&] { optimize(number); }, before_action(number));
  conclude(record);
  at_action_ = -1;
  tell_place();
  groups_.everyone().barrier();
  record.time_ns =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - begin).count();
  steps_.push_back(record);
  remember_times(record);
  remember_routed(peak_before);
  remember_copies();
}

Executor::BeforeAction RankTraining::before_action(std::int64_t step) {
  return [this, step](std::int32_t action) {
    at_action_ = action;
    tell_place();
    report_action_(action);
    probe_.on_action(groups_.rank(), step, action);
  };
}

/// A held-out loss costs at most the forwards of two steps.
bool RankTraining::evaluate(StepRecord& record, bool is_last) {
  constexpr std::int64_t most_batches = 2;
  const bool is_due = options_.evaluation.every > 0 && (record.step + 1) % options_.evaluation.every == 0;
  if (feed_.held_out_sequences() == 0 || !(is_last || is_due)) return false;
  outside_steps([&] {
    record.held_out_loss =
        evaluation_.held_out_loss(most_batches * job_.training.global_batch, before_action(record.step));
  });
  // An evaluation that is there because a run's steps are over does not count: two parts of a run end where one does.
  return is_due && early_stopping_.ends_with(*record.held_out_loss);
}

void RankTraining::generate(const StepRecord& record) {
  const Generation& asked = options_.evaluation.generation;
  if (asked.tokens == 0) return;
  outside_steps([&] {
    generated_ = evaluation_.continuation({asked.prompt, asked.tokens, asked.temperature, options_.seed},
                                          options_.data.vocabulary, before_action(record.step));
  });
  if (groups_.rank() == 0) observer_.on_generated(generated_);
}

template <class Act>
void RankTraining::outside_steps(Act act) {
  const auto groups = named_groups();
  std::vector<SentByKind> before;
  for (const auto& [name, group] : groups) before.push_back(group->sent());
  act();
  at_action_ = -1;
  tell_place();
  for (std::size_t g = 0; g < groups.size(); ++g)
    for (std::size_t kind = 0; kind < collective_count; ++kind) {
      sent_outside_steps_[g].bytes[kind] += groups[g].second->sent().bytes[kind] - before[g].bytes[kind];
      sent_outside_steps_[g].calls[kind] += groups[g].second->sent().calls[kind] - before[g].calls[kind];
    }
}

/// A checkpoint of what is not finite would be of no use, and the latest.
void RankTraining::require_finite_state(std::int64_t next_step) {
  RankScalars own;
  own.has_non_finite = parameters_.state.has_non_finite() ? 1 : 0;
  const auto bad = first_non_finite(all_scalars(groups_.everyone(), own));
  if (bad) diverged(*bad, next_step - 1, "has weights or optimizer state that are not finite");
}

void RankTraining::save(std::int64_t next_step) {
  require_finite_state(next_step);
  saving_ = next_step;
  tell_place();
  CheckpointManifest manifest;
  manifest.step = next_step;
  manifest.updates = state_.updates;
  manifest.loss_scale = state_.loss_scale;
  manifest.early_stopping = early_stopping_.state();
  manifest.plan_fingerprint = job_.plan_fingerprint;
  manifest.settings = settings_of(job_, options_);
  manifest.data = options_.data_source;
  checkpoint_.write(options_.checkpoints.folder, std::move(manifest));
  last_checkpoint_ = *latest_checkpoint(options_.checkpoints.folder);
  saving_ = -1;
  tell_place();
}

void RankTraining::resume() {
  const Checkpoint checkpoint = checkpoint_to_resume(options_.checkpoints.resume);
  checkpoint_.read(checkpoint);
  early_stopping_ = EarlyStopping(options_.evaluation.patience, checkpoint.manifest().early_stopping);
  // Another precision, by --override, begins with its own loss scale.
  state_.updates = checkpoint.manifest().updates;
  const Json* const precision = find_setting(checkpoint.manifest().settings, "precision");
  if (precision != nullptr && flag_text(*precision) == to_text(job_.training.precision))
    state_.loss_scale = checkpoint.manifest().loss_scale;
  require_valid(state_.loss_scale);
  values_.scalars.set(state_);
  first_step_ = checkpoint.manifest().step;
  last_checkpoint_ = checkpoint.path();
}

void RankTraining::diverged(std::int32_t rank, std::int64_t step, const std::string& what) {
  // The others wait for the one that speaks, until its failure ends their wait.
  if (rank != groups_.rank()) groups_.everyone().barrier();
  const std::string kept = last_checkpoint_.empty() ? "no checkpoint was written"
                                                    : "the last good checkpoint is " + last_checkpoint_.string();
  throw TrainingDiverged("rank " + std::to_string(rank) + " (stage " + std::to_string(executor_.stage()) +
                         ") at the optimizer step of step " + std::to_string(step) + " " + what +
                         ": the training has diverged; " + kept);
}

/// fp16 skips a step that overflows, as long as a smaller scale may help.
void RankTraining::require_finite(const std::vector<RankScalars>& by_rank, const StepRecord& record, bool overflows) {
  if (overflows && state_.loss_scale.scale > scale_rule_.smallest) return;
  auto bad = first_non_finite(by_rank);
  if (!bad && !std::isfinite(record.gradient_norm)) bad = 0;  // the sum alone overflows
  if (bad)
    diverged(*bad, record.step,
             std::isfinite(record.loss) ? "has gradients that are not finite"
                                        : "ends with a loss of " + std::to_string(record.loss));
}

void RankTraining::optimize(std::int64_t number) {
  if (!executor_.graph().is_recording()) probe_.on_gradients(groups_.rank(), number, parameters_);
  // A graph has its one rank's host ask behind it.
  const bool asks = options_.device.launch == StepLaunch::calls;
  StepScalars& scalars = values_.scalars;
  const StepInputs& inputs = values_.inputs;
  parameters_.update(
      {job_.optimizer, inputs.learning_rate(), scalars.decision(), &scalars.own()->gradients, inputs.seed()},
      [&] { scalars.decide(scale_rule_, job_.optimizer.clip_norm, asks ? observer_.stop_signal() : 0); });
}

void RankTraining::conclude(StepRecord& record) {
  const std::vector<RankScalars> by_rank = scalars_by_rank(values_.scalars.totals(), job_.strategy);
  const RankScalars all = sum_of(by_rank);
  stopped_by_ = static_cast<int>(all.stop_signal);
  if (options_.device.launch == StepLaunch::graph) stopped_by_ = observer_.stop_signal();
  record.loss = all.loss / all.tokens;
  record.gradient_norm = std::sqrt(all.sum_of_squares) / state_.loss_scale.scale;
  const bool overflows =
      scales_loss(job_.training.precision) && (all.has_non_finite > 0 || !std::isfinite(all.sum_of_squares));
  require_finite(by_rank, record, overflows);
  const bool takes = values_.scalars.state().updates > state_.updates;
  record.outcome = takes ? StepOutcome::taken : StepOutcome::skipped;
  state_ = values_.scalars.state();
  if (takes) probe_.on_updated(groups_.rank(), record.step, parameters_);
}

void RankTraining::remember_times(const StepRecord&) {
  for (std::size_t c = 0; c < memory_class_count; ++c)
    highest_.by_class[c] = std::max(highest_.by_class[c], backend_.live().peak().by_class[c]);
  if (std::ssize(steps_) <= options_.warmup_steps) return;
  const auto& times = executor_.clock().times();
  for (std::size_t i = 0; i < times.size(); ++i) lengths_[i].push_back(times[i].end_ns - times[i].start_ns);
  traced_ = static_cast<std::int32_t>(steps_.size()) - 1;
  traced_times_ = times;
  traced_begin_ns_ =
      std::chrono::duration_cast<std::chrono::nanoseconds>(executor_.clock().step_begin().time_since_epoch()).count();
}

void RankTraining::remember_routed(Bytes peak_before) {
  const bool is_peak = backend_.live().peak().device_total() > peak_before;
  for (const auto& [place, rows] : executor_.routed()) {
    RoutedRecord& record = routed_[place];
    record.execution = place.first;
    record.micro_batch = place.second;
    record.all += rows;
    if (is_peak) record.at_peak = rows;
  }
}

void RankTraining::remember_copies() {
  const HostCopies& of_step = executor_.copied();
  copied_.to_host += of_step.to_host;
  copied_.from_host += of_step.from_host;
  copied_.copies += of_step.copies;
  copied_.most_on_host = std::max(copied_.most_on_host, of_step.most_on_host);
}

std::vector<std::pair<std::string, Communicator*>> RankTraining::named_groups() {
  std::vector<std::pair<std::string, Communicator*>> groups;
  for (const Axis axis : all_axes)
    if (groups_.has(axis)) groups.emplace_back(to_text(axis), &groups_[axis]);
  groups.emplace_back("expert_shard", &groups_.expert_shard());
  groups.emplace_back("expert_replicate", &groups_.expert_replicate());
  if (groups_.expert_secondary() != nullptr) groups.emplace_back("expert_secondary_shard", groups_.expert_secondary());
  groups.emplace_back("expert_matrices", &groups_.expert_matrices());
  groups.emplace_back("expert_counts", &groups_.expert_counts());
  groups.emplace_back("expert_tensor_counts", &groups_.expert_tensor_counts());
  if (groups_.ends() != nullptr) groups.emplace_back("pipeline_ends", groups_.ends());
  groups.emplace_back("step_scalars", &groups_.everyone());
  return groups;
}

Json RankTraining::description() {
  RankParts parts{groups_.rank(), executor_.stage(), named_groups(), {}, {}};
  parts.tokens = {executor_.batches().first_read(0).token, share_.local_sequence()};
  for (std::int32_t m = 0; m < static_cast<std::int32_t>(job_.strategy.micro_batches); ++m)
    parts.first_sequences.push_back(executor_.batches().first_read(m).sequence);
  return rank_description(parts, parameters_.layout(), executor_.program());
}

RankRecord RankTraining::record(bool has_one_clock) {
  std::int64_t behind_ns = 0;
  if (has_one_clock) outside_steps([&] { behind_ns = nanoseconds_behind(everyone(), traced_begin_ns_); });
  RankRecord record;
  record.rank = groups_.rank();
  record.stage = executor_.stage();
  record.memory.at_peak = backend_.live().peak();
  record.memory.highest = highest_;
  record.memory.arena = backend_.arena_bytes();
  record.memory.process_resident = process_resident_bytes();
  record.memory.device = device_memory_;
  const std::int64_t steps = std::max<std::int64_t>(1, std::ssize(steps_));
  const auto groups = named_groups();
  for (std::size_t g = 0; g < groups.size(); ++g) {
    SentByKind sent = groups[g].second->sent();
    for (std::size_t kind = 0; kind < collective_count; ++kind) {
      sent.bytes[kind] -= sent_outside_steps_[g].bytes[kind];
      sent.calls[kind] -= sent_outside_steps_[g].calls[kind];
    }
    add_sent(record, groups[g].first, sent, steps);
  }
  add_copies(record, copied_, steps);
  for (const auto& [place, rows] : routed_) record.routed.push_back(rows);
  const RankProgram& program = executor_.program();
  for (std::size_t i = 0; i < program.actions.size(); ++i) {
    const Action& a = program.actions[i];
    ActionRecord& action = record.actions.emplace_back();
    action.action = static_cast<std::int32_t>(i);
    action.kind = a.kind();
    action.stream = a.stream();
    action.micro_batch = a.micro_batch;
    action.name = to_text(a);
    if (traced_times_.empty()) continue;
    action.start_ns = behind_ns + traced_times_[i].start_ns;
    action.end_ns = behind_ns + traced_times_[i].end_ns;
    action.median_ns = median(lengths_[i]);
    action.sent = traced_times_[i].sent;
  }
  return record;
}

}  // namespace plumbline
