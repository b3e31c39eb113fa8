#include "runtime/execution/rank_training.h"

#include <cmath>
#include <cstring>

#include "runtime/checkpoint/checkpoint_series.h"
#include "runtime/execution/parameter_init.h"
#include "runtime/process_memory.h"

namespace plumbline {
namespace {

/// What every rank says at the end of a step.
struct Scalars {
  double loss = 0;
  double tokens = 0;
  double sum_of_squares = 0;
  double has_non_finite = 0;
};

/// Sums in the order of the ranks.
Scalars sum_over_ranks(Communicator& everyone, const Scalars& own) {
  std::vector<Scalars> all(static_cast<std::size_t>(everyone.rank_set().size()));
  everyone.all_gather(std::as_bytes(std::span(&own, 1)), std::as_writable_bytes(std::span(all)), ElementFormat::bytes);
  Scalars sum;
  for (const Scalars& one : all) {
    sum.loss += one.loss;
    sum.tokens += one.tokens;
    sum.sum_of_squares += one.sum_of_squares;
    sum.has_non_finite += one.has_non_finite;
  }
  return sum;
}

std::vector<std::int32_t> executions_of(const RankProgram& rank) {
  std::vector<std::int32_t> executions;
  for (const auto& pieces : rank.chunks)
    for (const Piece& piece : pieces)
      for (std::int32_t e = piece.first; e < piece.last; ++e) executions.push_back(e);
  std::sort(executions.begin(), executions.end());
  return executions;
}

const RankProgram& program_of(const TrainingJob& job, const RankGroups& groups) {
  return job.program.ranks[static_cast<std::size_t>(groups.index(Axis::pipeline))];
}

bool scales_loss(const Training& training) {
  return training.precision == PrecisionRecipe::fp16 || training.precision == PrecisionRecipe::fp16_pure;
}

LossScaleRule rule_of(const TrainingJob& job) {
  if (scales_loss(job.training)) return job.loss_scale;
  LossScaleRule none;
  none.initial = none.smallest = none.largest = 1;
  return none;
}

}  // namespace

RankTraining::RankTraining(World& world, const TrainingJob& job, const RunOptions& options)
    : job_(job),
      options_(options),
      groups_(world, job.strategy),
      backend_(options.poison),
      parameters_(parameter_layout(job.graph, job.strategy, job.training, executions_of(program_of(job, groups_)),
                                   world.rank()),
                  job.strategy, job.training, groups_, backend_),
      environment_(job.strategy, job.training, groups_, backend_, parameters_),
      feed_(options.data, static_cast<std::int32_t>(job.training.sequence_length), options.seed),
      plan_{job.graph, job.strategy, job.training, job.program, job.replays},
      executor_(plan_, environment_, feed_, options.strict_buffers),
      scale_(rule_of(job)),
      lengths_(program_of(job, groups_).actions.size()) {
  environment_.constants = job.constants;
  environment_.routing = job.routing;
  const FirstWeights drawn = [&](const LocalParameter& p, std::int64_t index) {
    return initial_value(p.starts, options.seed, p.name, index);
  };
  parameters_.initialise(options.first_weights ? options.first_weights : drawn);
}

void RankTraining::run() {
  try {
    if (!options_.resume.empty()) resume();
    const bool saves = !options_.checkpoint.empty();
    for (std::int64_t i = 0; i < options_.steps; ++i) {
      step(first_step_ + i);
      const bool is_last = i + 1 == options_.steps;
      const bool is_due = options_.checkpoint_every > 0 && (i + 1) % options_.checkpoint_every == 0;
      if (saves && (is_last || is_due)) save(first_step_ + i + 1);
    }
  } catch (const InputError&) {
    throw;
  } catch (const std::exception& error) {
    throw RunFailure(place() + ": " + error.what());
  }
}

std::string RankTraining::place() const {
  const std::string here =
      "rank " + std::to_string(groups_.rank()) + " (stage " + std::to_string(executor_.stage()) + ")";
  if (saving_ >= 0) return here + " writing the checkpoint of step " + std::to_string(saving_);
  if (at_action_ < 0) return here + " between two steps";
  return here + " at " + to_text(executor_.program().actions[static_cast<std::size_t>(at_action_)]);
}

void RankTraining::step(std::int64_t number) {
  const auto begin = std::chrono::steady_clock::now();
  StepRecord record;
  record.step = number;
  record.learning_rate = learning_rate(job_.learning_rate, number);
  const double tokens = static_cast<double>(job_.training.global_batch * job_.training.sequence_length);
  environment_.gradient_scale = static_cast<float>(scale_.scale() / tokens);
  environment_.on_logits = number == first_step_ ? options_.on_logits : nullptr;
  environment_.seed = options_.seed * 0x9e3779b97f4a7c15U + static_cast<std::uint64_t>(number);
  const Bytes peak_before = backend_.live().peak().device_total();
  executor_.run_step(
      number, [&](const StepSums& sums) { optimize(number, sums, record); },
      [&](std::int32_t action) {
        at_action_ = action;
        tell_place();
        if (options_.on_action) options_.on_action(groups_.rank(), number, action);
      });
  at_action_ = -1;
  tell_place();
  groups_.everyone().barrier();
  record.time_ns =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - begin).count();
  steps_.push_back(record);
  remember_times(record);
  remember_routed(peak_before);
  if (groups_.rank() == 0 && options_.on_step) options_.on_step(record);
}

namespace {

StoredFormat stored(NumberFormat format) {
  if (format == NumberFormat::bf16) return StoredFormat::bf16;
  return format == NumberFormat::fp16 ? StoredFormat::fp16 : StoredFormat::fp32;
}

/// A rank's own tensor of a checkpoint.
std::string rank_name(std::string_view what, std::int32_t rank) {
  return std::string(what) + ".rank-" + std::to_string(rank);
}

/// What is not a tensor, as one: updates taken, loss scale, its good and its skipped steps. fp64 holds them exactly.
constexpr std::int64_t counters = 4;

}  // namespace

/// Flat buffers as they lie on each rank: a run resumes bit for bit, under the same plan.
void RankTraining::save(std::int64_t next_step) {
  saving_ = next_step;
  tell_place();
  Communicator& everyone = groups_.everyone();
  if (groups_.rank() == 0) begin_checkpoint(options_.checkpoint, next_step);
  everyone.barrier();
  const std::array<double, counters> numbers{static_cast<double>(updates_), scale_.state().scale,
                                             static_cast<double>(scale_.state().good_steps),
                                             static_cast<double>(scale_.state().skipped_steps)};
  std::vector<TensorToWrite> tensors{
      {rank_name("counters", groups_.rank()), StoredFormat::fp64, {counters}, std::as_bytes(std::span(numbers))}};
  for (const ParameterStore::StateBuffer& buffer : parameters_.state()) {
    const StoredFormat format = stored(buffer.format);
    tensors.push_back({rank_name(buffer.name, groups_.rank()),
                       format,
                       {static_cast<std::int64_t>(buffer.data.size()) / bytes_of(format)},
                       buffer.data});
  }
  const std::int64_t bytes = write_shard(options_.checkpoint, next_step, groups_.rank(), tensors);
  // Sizes of every rank's file and tensors, for the manifest.
  std::vector<std::int64_t> own{bytes};
  for (std::size_t i = 0; i < 4; ++i) own.push_back(i < tensors.size() ? tensors[i].shape.front() : 0);
  std::vector<std::int64_t> all(own.size() * static_cast<std::size_t>(everyone.rank_set().size()));
  everyone.all_gather(std::as_bytes(std::span(own)), std::as_writable_bytes(std::span(all)), ElementFormat::bytes);
  if (groups_.rank() == 0) {
    CheckpointManifest manifest{next_step, static_cast<std::int64_t>(options_.seed), job_.plan_fingerprint, {}, {}};
    for (std::int32_t rank = 0; rank < everyone.rank_set().size(); ++rank) {
      const std::size_t first = own.size() * static_cast<std::size_t>(rank);
      manifest.file_bytes.push_back(all[first]);
      for (std::size_t i = 0; i < tensors.size(); ++i) {
        const std::string_view what = i == 0 ? "counters" : parameters_.state()[i - 1].name;
        manifest.tensors.push_back(unsharded(rank_name(what, rank), tensors[i].format, {all[first + 1 + i]}, rank));
      }
    }
    commit_checkpoint(options_.checkpoint, manifest);
  }
  everyone.barrier();
  saving_ = -1;
  tell_place();
}

void RankTraining::resume() {
  const Checkpoint checkpoint =
      checkpoint_to_resume(options_.resume, job_.plan_fingerprint, groups_.everyone().rank_set().size());
  const auto read = [&](std::string_view what, std::span<std::byte> to) {
    const ShardedTensor* tensor = checkpoint.find(rank_name(what, groups_.rank()));
    const bool fits = tensor != nullptr && tensor->shape.front() * bytes_of(tensor->format) == std::ssize(to);
    if (!fits)
      throw InputError({options_.resume.string(),
                        "has no " + rank_name(what, groups_.rank()) + " of " + std::to_string(to.size()) + " bytes",
                        "a checkpoint of this plan", ""});
    checkpoint.read_whole(*tensor, to);
  };
  for (const ParameterStore::StateBuffer& buffer : parameters_.state()) read(buffer.name, buffer.data);
  std::array<double, counters> numbers{};
  read("counters", std::as_writable_bytes(std::span(numbers)));
  updates_ = static_cast<std::int64_t>(numbers[0]);
  scale_ = DynamicLossScale(rule_of(job_),
                            {numbers[1], static_cast<std::int64_t>(numbers[2]), static_cast<std::int64_t>(numbers[3])});
  first_step_ = checkpoint.manifest().step;
}

void RankTraining::optimize(std::int64_t number, const StepSums& sums, StepRecord& record) {
  // Every tensor-parallel rank computes the whole loss of its tokens.
  const bool counts = groups_.index(Axis::tensor) == 0;
  const ParameterStore::Health health = parameters_.health();
  if (options_.on_gradients) options_.on_gradients(groups_.rank(), number, parameters_);
  const Scalars all = sum_over_ranks(groups_.everyone(), {counts ? sums.loss : 0, counts ? double(sums.tokens) : 0,
                                                          health.sum_of_squares, health.has_non_finite ? 1.0 : 0.0});
  record.loss = all.loss / all.tokens;
  record.gradient_norm = std::sqrt(all.sum_of_squares) / scale_.scale();
  const bool overflows = scales_loss(job_.training) && (all.has_non_finite > 0 || !std::isfinite(all.sum_of_squares));
  const double scale = scale_.scale();
  const bool takes = scale_.update(overflows ? GradientHealth::overflow : GradientHealth::finite);
  record.outcome = takes ? StepOutcome::taken : StepOutcome::skipped;
  if (!takes) return;
  const double limit = job_.optimizer.clip_norm;
  const double clip = limit > 0 && record.gradient_norm > limit ? limit / record.gradient_norm : 1.0;
  parameters_.update(job_.optimizer, record.learning_rate, clip / scale, ++updates_);
  if (options_.on_updated) options_.on_updated(groups_.rank(), number, parameters_);
}

void RankTraining::remember_times(const StepRecord&) {
  for (std::size_t c = 0; c < memory_class_count; ++c)
    highest_.by_class[c] = std::max(highest_.by_class[c], backend_.live().peak().by_class[c]);
  if (std::ssize(steps_) <= options_.warmup_steps) return;
  const auto& times = executor_.times();
  for (std::size_t i = 0; i < times.size(); ++i) lengths_[i].push_back(times[i].end_ns - times[i].start_ns);
  traced_ = static_cast<std::int32_t>(steps_.size()) - 1;
  traced_times_ = times;
  traced_begin_ns_ =
      std::chrono::duration_cast<std::chrono::nanoseconds>(executor_.step_begin().time_since_epoch()).count();
}

void RankTraining::remember_routed(Bytes peak_before) {
  const bool is_peak = backend_.live().peak().device_total() > peak_before;
  for (const auto& [place, rows] : executor_.routed()) {
    RoutedRecord& record = routed_[place];
    record.execution = place.first;
    record.micro_batch = place.second;
    record.left += rows.left;
    record.came += rows.came;
    if (!is_peak) continue;
    record.left_at_peak = rows.left;
    record.came_at_peak = rows.came;
  }
}

void RankTraining::add_sent(RankRecord& record, Communicator& group, const std::string& name) const {
  const SentByKind& sent = group.sent();
  for (std::size_t kind = 0; kind < call_kind_count; ++kind) {
    if (sent.bytes[kind].value() == 0) continue;
    record.sent.push_back({name, std::string(to_text(static_cast<CallKind>(kind))),
                           sent.calls[kind] / std::max<std::int64_t>(1, std::ssize(steps_)),
                           sent.bytes[kind] / std::max<std::int64_t>(1, std::ssize(steps_))});
  }
}

RankRecord RankTraining::record(std::int64_t behind_ns) {
  RankRecord record;
  record.rank = groups_.rank();
  record.stage = executor_.stage();
  record.memory.at_peak = backend_.live().peak();
  record.memory.highest = highest_;
  record.memory.arena = backend_.arena_bytes();
  record.memory.process_resident = process_resident_bytes();
  for (const Axis axis : all_axes) add_sent(record, groups_[axis], std::string(to_text(axis)));
  add_sent(record, groups_.expert_shard(), "expert_shard");
  add_sent(record, groups_.expert_replicate(), "expert_replicate");
  add_sent(record, groups_.expert_counts(), "expert_counts");
  if (groups_.ends() != nullptr) add_sent(record, *groups_.ends(), "pipeline_ends");
  add_sent(record, groups_.everyone(), "step_scalars");
  for (const auto& [place, rows] : routed_) record.routed.push_back(rows);
  const RankProgram& program = executor_.program();
  for (std::size_t i = 0; i < program.actions.size(); ++i) {
    const Action& a = program.actions[i];
    ActionRecord& action = record.actions.emplace_back();
    action.action = static_cast<std::int32_t>(i);
    action.kind = a.kind;
    action.stream = a.stream;
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
