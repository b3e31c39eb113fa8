#include <cmath>

#include "core/sharding/op_work.h"
#include "planner/pricing/priced.h"
#include "tests/campaign/law_questions.h"

namespace plumbline {
namespace {

void causes_sum(const Subject& s, Finding& f) {
  for (const Picoseconds part : s.prediction().time.by_cause) f.expect_at_most(Picoseconds(0), part, "a cause");
  f.expect(s.step() > Picoseconds(0), "a step takes time");
  f.expect_equal(s.prediction().step_time_s.expected, to_seconds(s.step()).value(), "step and sum of causes");
}

void classes_sum(const Subject& s, Finding& f) {
  const Prediction& p = s.prediction();
  f.expect_equal(p.stage_memory.size(), static_cast<std::size_t>(s.strategy().pipeline_stages), "stages");
  Bytes peak(0);
  for (std::size_t stage = 0; stage < p.stage_memory.size(); ++stage) {
    const MemoryBreakdown& memory = p.stage_memory[stage];
    Bytes sum(0);
    for (const Bytes part : memory.by_class) {
      f.expect_at_most(Bytes(0), part, "a class");
      sum += part;
    }
    f.expect_equal(sum, memory.device_total(), "classes and their total");
    f.expect_at_most(memory.live(), memory.reserved(), "live and reserved");
    f.expect_at_most(memory.reserved(), memory.device_total(), "reserved and total");
    peak = std::max(peak, weighed(s.question, s.strategy(), memory.device_total(), stage));
  }
  f.expect_equal(weighed_peak(s.question, s.plan), peak, "peak and heaviest stage");
  f.expect_equal(p.stage_memory[static_cast<std::size_t>(p.heaviest_stage)].device_total(), p.peak_memory,
                 "heaviest stage");
}

void intervals_hold_expected(const Subject& s, Finding& f) {
  for (const Interval& i : {s.prediction().step_time_s, s.prediction().peak_memory_interval_bytes}) {
    f.expect_at_most(i.low, i.expected, "low and expected");
    f.expect_at_most(i.expected, i.high, "expected and high");
    f.expect_at_most(0., i.low, "low");
  }
  f.expect_equal(s.prediction().peak_memory_interval_bytes.expected,
                 static_cast<double>(s.prediction().peak_memory.value()), "expected memory and peak");
}

void fits_where_it_should(const Subject& s, Finding& f) {
  const Verdict& v = s.plan.verdict;
  const std::vector<BlockCost> blocks = block_costs(s.question, s.strategy());
  const StageLayout layout = layout_of(s.question, s.strategy(), blocks);
  bool fits = fits_host(s.question, StageTable(s.question.graph(), layout, blocks), s.strategy());
  const StageSites sites = s.question.stage_sites(s.strategy());
  for (std::size_t rank = 0; rank < s.prediction().stage_memory.size(); ++rank)
    fits = fits && s.prediction().stage_memory[rank].device_total() <= s.question.device_memory(sites.site(rank));
  f.expect_equal(v.fits, fits, "verdict and capacity");
  f.expect_equal(v.margin, v.capacity - s.prediction().peak_memory, "margin");
  f.expect(!v.near_edge || v.fits, "near the edge without fitting");
}

void peak_holds_states(const Subject& s, Finding& f) {
  for (std::size_t stage = 0; stage < s.prediction().stage_memory.size(); ++stage)
    f.expect_at_most(weighed(s.question, s.strategy(), state_bytes(s.prediction().stage_memory[stage]), stage),
                     weighed_peak(s.question, s.plan), "states and peak");
}

/// Every parameter lies somewhere: weights of all ranks together, over the copies that replication makes.
void weights_hold_the_model(const Subject& s, Finding& f) {
  Bytes held(0);
  for (const MemoryBreakdown& memory : s.prediction().stage_memory)
    held += memory[MemoryClass::weights] + memory[MemoryClass::master_weights];
  const std::int64_t ranks = s.strategy().devices() / s.strategy().pipeline_stages;
  const PrecisionFormats formats = s.question.training().formats();
  // Some stacks keep weights of quantised products in that format alone.
  const StackFeatures& features = s.question.calibration().stack.features;
  const bool keeps_quantized = features.fp8_parameters == QuantizedWeights::alone && is_quantized(formats.matmul);
  const double bytes = static_cast<double>(bits(keeps_quantized ? formats.matmul : formats.weight)) / 8;
  f.expect_at_most(static_cast<double>(s.plan.model.parameters) * bytes,
                   static_cast<double>(held.value()) * static_cast<double>(ranks) * (1 + 1e-9),
                   "bytes of the model and of all ranks");
}

/// FLOPs of one sequence.
Flops sequence_flops(const Subject& s, std::int64_t length) {
  Shard whole;
  whole.lengths = {1, length};
  whole.formats = s.question.training().formats();
  return graph_flops(s.question.graph(), whole).total();
}

/// Utilisation is of the rate of products; attention runs in the format of activations, which a drawn device may
/// multiply faster.
double faster_attention(const Subject& s) {
  const PrecisionFormats formats = s.question.training().formats();
  double most = 1;
  for (const NodeGroup& group : s.question.cluster().groups) {
    const Device& device = group.node.device;
    most = std::max(most, device.product_peak(formats.activation) / device.product_peak(formats.matmul));
  }
  return most;
}

/// Model FLOPs count full attention (arXiv:2204.02311, appendix B), of which causal kernels do half.
double most_use(const Subject& s) {
  const std::int64_t length = s.question.training().sequence_length;
  const double linear = static_cast<double>(length) * sequence_flops(s, 1).value();
  const double attention = std::max(0., 1 - linear / sequence_flops(s, length).value());
  return faster_attention(s) / (1 - attention / 2);
}

void use_of_flops(const Subject& s, Finding& f) {
  const Prediction& p = s.prediction();
  f.expect_at_most(p.mfu, p.hfu, "MFU and HFU");
  f.expect_at_most(p.hfu, most_use(s), "HFU");
  f.expect_at_most(p.model_flops_per_step, p.hardware_flops_per_step, "FLOPs of model and hardware");
  f.expect(p.mfu > 0, "an MFU above zero");
}

void tokens_are_those_of_the_batch(const Subject& s, Finding& f) {
  const Training& t = s.question.training();
  f.expect_near(s.prediction().tokens_per_second_per_gpu * s.prediction().step_time_s.expected *
                    static_cast<double>(s.question.devices()),
                static_cast<double>(t.global_batch) * static_cast<double>(t.sequence_length), "tokens");
}

void money_is_time(const Subject& s, Finding& f) {
  const auto price = price_per_device_hour(s.question.cluster());
  const double step = s.prediction().step_time_s.expected;
  const auto devices = static_cast<double>(s.question.devices());
  f.expect_near(s.prediction().dollars_per_step, price ? price->value() * devices * step / 3600 : 0, "dollars");
  double watts = 0;
  for (const NodeGroup& group : s.question.cluster().groups)
    watts += group.count *
             (group.node.devices * group.node.device.power.value.value() + group.node.host_power.value.value());
  f.expect_near(s.prediction().joules_per_step, watts * step, "energy");
}

void run_is_steps(const Subject& s, Finding& f) {
  const Training& t = s.question.training();
  if (!t.token_budget) {
    f.expect_equal(s.plan.run.days + s.plan.run.gpu_hours + s.plan.run.energy_kwh, 0., "a run without a budget");
    return;
  }
  const double per_step = static_cast<double>(t.global_batch) * static_cast<double>(t.sequence_length);
  const double steps = std::ceil(static_cast<double>(*t.token_budget) / per_step);
  f.expect_near(s.plan.run.days * 86400, steps * s.prediction().step_time_s.expected, "days");
  f.expect_near(s.plan.run.gpu_hours, s.plan.run.days * 24 * static_cast<double>(s.question.devices()), "GPU-hours");
  f.expect_near(s.plan.run.dollars.value(), steps * s.prediction().dollars_per_step, "dollars of the run");
  f.expect_near(s.plan.run.energy_kwh, steps * s.prediction().joules_per_step / 3.6e6, "energy of the run");
}

void bubble_is_idle_share(const Subject& s, Finding& f) {
  const Prediction& p = s.prediction();
  f.expect_equal(p.bubble_fraction, p.time[TimeCause::pipeline_bubble] / s.step(), "bubble");
  f.expect(p.bubble_fraction >= 0 && p.bubble_fraction < 1, "a share of the step");
}

void absent_axes_cost_nothing(const Subject& s, Finding& f) {
  const Strategy& strategy = s.strategy();
  const TimeBreakdown& time = s.prediction().time;
  const auto nothing = [&](bool absent, TimeCause cause) {
    if (absent) f.expect_equal(time[cause], Picoseconds(0), to_text(cause));
  };
  nothing(strategy.tensor_parallel == 1, TimeCause::tensor_parallel);
  nothing(strategy.context_parallel == 1, TimeCause::context_parallel);
  nothing(strategy.pipeline_stages == 1, TimeCause::pipeline_bubble);
  nothing(strategy.recompute.mode == RecomputeMode::none, TimeCause::recompute);
  const bool checkpoints_on_host =
      s.question.calibration().stack.features.layer_checkpoints == LayerCheckpoints::on_host;
  nothing(strategy.recompute.mode != RecomputeMode::offloaded && !checkpoints_on_host, TimeCause::offload);
  nothing(strategy.expert_parallel == 1 && strategy.tensor_parallel == 1, TimeCause::expert_parallel);
}

void layers_are_each_held_once(const Subject& s, Finding& f) {
  std::vector<int> held(static_cast<std::size_t>(s.plan.model.layers));
  int inputs = 0;
  int outputs = 0;
  for (const StageLayoutEntry& stage : s.plan.layout.stages) {
    inputs += stage.holds_input ? 1 : 0;
    outputs += stage.holds_output ? 1 : 0;
    for (const std::vector<std::int64_t>& range : stage.layers)
      for (std::int64_t l = range.empty() ? 0 : range[0]; !range.empty() && l <= range[1]; ++l)
        ++held[static_cast<std::size_t>(l)];
  }
  for (const int count : held) f.expect_equal(count, 1, "stages that hold a layer");
  f.expect(inputs <= 1 && outputs <= 1, "one stage holds the input, one the output");
}

void groups_fill_the_machine(const Subject& s, Finding& f) {
  for (const GroupLayout& group : s.plan.layout.groups) {
    f.expect_equal(group.size * group.count, s.strategy().devices(), group.axis);
    f.expect(group.size >= 1 && group.stride >= 1, "groups have members");
  }
}

}  // namespace

Laws laws_of_totals() {
  return {
      {"time-sums", "The causes of a step are none below zero and sum to it.", 1, causes_sum},
      {"memory-sums",
       "The classes of a rank's memory are none below zero and sum to its total; the peak is the "
       "heaviest stage's.",
       1, classes_sum},
      {"intervals", "Low is at most expected, expected at most high, of time and of memory.", 1,
       intervals_hold_expected},
      {"verdict",
       "A plan fits exactly where its peak is at most the capacity and its host memory at most that of "
       "every node.",
       1, fits_where_it_should},
      {"peak-holds-states", "The peak is at least the weights, gradients and optimizer state of any rank.", 1,
       peak_holds_states},
      {"weights-cover-the-model", "All ranks together hold at least every parameter once.", 1, weights_hold_the_model},
      {"utilisation",
       "0 < MFU <= HFU <= 1 but for the half of attention that causal kernels skip; the hardware does at least the "
       "model's FLOPs.",
       1, use_of_flops},
      {"tokens", "Tokens per second times step times GPUs are the batch's tokens.", 1, tokens_are_those_of_the_batch},
      {"dollars", "Dollars are time times price times GPUs, joules are time times power.", 1, money_is_time},
      {"run-cost", "A run costs its steps: days, GPU-hours, dollars and energy.", 1, run_is_steps},
      {"bubble", "The bubble fraction is the bubble's share of the step.", 1, bubble_is_idle_share},
      {"absent-axes", "An axis of one rank costs no time, and no recompute takes none.", 1, absent_axes_cost_nothing},
      {"layers-once", "Every layer lies on one pipeline stage, input and output on at most one.", 1,
       layers_are_each_held_once},
      {"groups", "The groups of every axis have all ranks.", 1, groups_fill_the_machine},
  };
}

}  // namespace plumbline
