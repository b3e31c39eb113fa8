#include "runtime/execution/optimizer_update.h"

#include "kernels/adafactor.h"
#include "runtime/device/device_kernels.h"
#include "runtime/execution/parameter_init.h"

namespace plumbline {
namespace {

Bytes floats(std::int64_t count) { return storage(count, NumberFormat::fp32); }

std::span<std::byte> bytes_of_floats(float* first, std::int64_t count) {
  return std::as_writable_bytes(std::span(first, static_cast<std::size_t>(count)));
}

TensorView view_of(float* data, const FloatRows& rows) {
  TensorView view = dense_view(static_cast<void*>(data), NumberFormat::fp32, rows.rows, rows.columns);
  view.stride = rows.stride;
  return view;
}

/// The first of them and those behind it that do the same.
std::span<const UpdateInstruction> of_one_kind(std::span<const UpdateInstruction> rest) {
  std::size_t count = 1;
  while (count < rest.size() && rest[count].kind == rest.front().kind) ++count;
  return rest.first(count);
}

/// Muon steps by AdamW where a parameter is no matrix.
bool steps_by_adamw(Optimizer optimizer) {
  return optimizer == Optimizer::adam || optimizer == Optimizer::adamw || optimizer == Optimizer::muon;
}

}  // namespace

OptimizerUpdate::OptimizerUpdate(ParameterMemory& memory)
    : memory_(memory),
      program_(lower_update(memory.layout, memory.strategy, memory.training.optimizer, memory.groups.rank())),
      rooms_(program_.buffers.size()) {}

void OptimizerUpdate::run(const UpdateNumbers& numbers, const std::function<void()>& decide) {
  const std::vector<UpdateInstruction>& all = program_.instructions;
  for (std::size_t at = 0; at < all.size();) {
    const std::span<const UpdateInstruction> same = of_one_kind(std::span(all).subspan(at));
    if (run_together(same, numbers)) {
      at += same.size();
    } else {
      run(same.front(), numbers, decide);
      ++at;
    }
  }
}

bool OptimizerUpdate::run_together(std::span<const UpdateInstruction> same, const UpdateNumbers& numbers) {
  const CombinedKernels* const combined = memory_.device.kernels().combined;
  if (combined == nullptr || same.size() == 1) return false;
  if (same.front().kind == UpdateKind::sum_gradients) {
    std::vector<ConstTensorView> gradients;
    for (const UpdateInstruction& i : same) gradients.emplace_back(memory_.owned_gradient(owned(i)));
    HealthSums args{gradients, numbers.sums};
    args.workspace = memory_.backend.workspace(combined->add_health_sums.workspace(args));
    combined->add_health_sums.run(args);
    return true;
  }
  if (same.front().kind != UpdateKind::update || !steps_by_adamw(memory_.training.optimizer)) return false;
  std::vector<AdamwStep> steps;
  for (const UpdateInstruction& i : same) steps.push_back(adamw_step(i, numbers));
  combined->adamw_steps(steps);
  return true;
}

void OptimizerUpdate::run(const UpdateInstruction& i, const UpdateNumbers& numbers,
                          const std::function<void()>& decide) {
  const DeviceKernels& kernels = memory_.device.kernels();
  switch (i.kind) {
    case UpdateKind::sum_gradients: return sum_gradients(i, numbers.sums);
    case UpdateKind::decide: return decide();
    case UpdateKind::update: return update(i, numbers);
    case UpdateKind::update_matrix: return update_matrix(i, numbers);
    case UpdateKind::allocate: return allocate(i);
    case UpdateKind::release: rooms_[static_cast<std::size_t>(i.to.buffer)] = {}; return;
    case UpdateKind::clear:
      return memory_.device.fill(Stream::compute, data(i.to), std::byte{0}, floats(i.to.elements()));
    case UpdateKind::direction: return kernels.muon_direction(muon_step(i, numbers), data(i.to));
    case UpdateKind::copy: return copy(i);
    case UpdateKind::gather: return gather(i);
    case UpdateKind::orthogonalise:
      return kernels.orthogonalise(data(i.to), i.rows, i.columns, MuonStep().iterations, data(i.from));
    case UpdateKind::apply: return kernels.muon_apply(muon_step(i, numbers), data(i.from), i.rows, i.columns);
    case UpdateKind::reduce: return reduce(i);
    case UpdateKind::add_squares:
    case UpdateKind::keep_means:
    case UpdateKind::add_updates:
    case UpdateKind::take_update: return factored(i, numbers);
  }
}

float* OptimizerUpdate::data(const FloatRows& rows) const {
  float* const begin = rooms_[static_cast<std::size_t>(rows.buffer)].data;
  check(begin != nullptr, "a buffer of an update is allocated before it is used");
  return begin + rows.first;
}

void OptimizerUpdate::allocate(const UpdateInstruction& i) {
  const UpdateBuffer& buffer = program_.buffers[static_cast<std::size_t>(i.to.buffer)];
  Room& room = rooms_[static_cast<std::size_t>(i.to.buffer)];
  if (buffer.is_scratch) {
    const std::int64_t of_kernel = memory_.device.kernels().orthogonalise_scratch(buffer.rows, buffer.columns);
    room.data = reinterpret_cast<float*>(memory_.backend.workspace(floats(buffer.elements + of_kernel)).data);
    return;
  }
  room.bound = memory_.backend.bind(MemoryClass::gathered_parameters, floats(buffer.elements));
  room.data = reinterpret_cast<float*>(room.bound->data());
}

void OptimizerUpdate::sum_gradients(const UpdateInstruction& i, TensorHealth* sums) {
  const ScratchKernel<HealthSum>& kernel = memory_.device.kernels().add_health;
  HealthSum args{memory_.owned_gradient(owned(i)), sums};
  args.workspace = memory_.backend.workspace(kernel.workspace(args));
  kernel.run(args);
}

OptimizedParameter OptimizerUpdate::optimized(const OwnedRange& owned, const UpdateNumbers& numbers) const {
  const OptimizerSettings& settings = numbers.settings;
  OptimizedParameter update;
  update.parameter = memory_.owned_weight(owned);
  if (memory_.has_masters()) update.master = memory_.owned_master(owned);
  update.gradient = memory_.owned_gradient(owned);
  update.decision = numbers.decision;
  if (settings.clip_value > 0) update.gradient_limit = static_cast<float>(settings.clip_value);
  update.rate_of_step = numbers.learning_rate;
  const LocalParameter& p = memory_.parameter(owned.parameter);
  const bool decays = p.dimensions >= 2 && facts(memory_.training.optimizer).reads.has(Hyperparameter::weight_decay);
  update.weight_decay = decays ? settings.weight_decay : 0;
  if (settings.rounding == WeightRounding::stochastic && rounds_weights(memory_.formats))
    update.rounding = {
        .is_on = true, .parameter = hash_of(p.name), .box = p.box, .first = owned.first, .seed_of_step = numbers.seed};
  return update;
}

MuonStep OptimizerUpdate::muon_step(const UpdateInstruction& i, const UpdateNumbers& numbers) const {
  return {optimized(owned(i), numbers), memory_.moment(owned(i), 0), numbers.settings.momentum};
}

AdamwStep OptimizerUpdate::adamw_step(const UpdateInstruction& i, const UpdateNumbers& numbers) const {
  const OptimizerSettings& settings = numbers.settings;
  return {optimized(owned(i), numbers),
          memory_.moment(owned(i), 0),
          memory_.moment(owned(i), 1),
          settings.beta1,
          settings.beta2,
          settings.epsilon};
}

void OptimizerUpdate::step_by_adamw(const UpdateInstruction& i, const UpdateNumbers& numbers) {
  const OwnedRange& range = owned(i);
  const DeviceKernels& kernels = memory_.device.kernels();
  if (!memory_.parameter(range.parameter).has_quantized_states) return kernels.adamw_step(adamw_step(i, numbers));
  const OptimizerSettings& settings = numbers.settings;
  kernels.adamw_8bit_step({optimized(range, numbers), memory_.coded_moment(range, 0), memory_.coded_moment(range, 1),
                           settings.beta1, settings.beta2, settings.epsilon});
}

void OptimizerUpdate::update(const UpdateInstruction& i, const UpdateNumbers& numbers) {
  const OptimizedParameter update = optimized(owned(i), numbers);
  const OptimizerSettings& settings = numbers.settings;
  const DeviceKernels& kernels = memory_.device.kernels();
  const auto moment = [&](std::size_t state) { return memory_.moment(owned(i), state); };
  switch (memory_.training.optimizer) {
    case Optimizer::sgd: return kernels.sgd_step({update});
    case Optimizer::momentum: return kernels.sgd_step({update, moment(0), settings.momentum});
    case Optimizer::adagrad: return kernels.adagrad_step({update, moment(0), settings.epsilon});
    case Optimizer::rmsprop: return kernels.rmsprop_step({update, moment(0), settings.beta2, settings.epsilon});
    case Optimizer::lion: return kernels.lion_step({update, moment(0), settings.beta1, settings.beta2});
    case Optimizer::adam:
    case Optimizer::adamw:
    case Optimizer::muon:
    case Optimizer::adamw_8bit:
    case Optimizer::paged_adamw_8bit: return step_by_adamw(i, numbers);
    case Optimizer::adafactor: break;  // every parameter by its own instructions
  }
}

void OptimizerUpdate::factored(const UpdateInstruction& i, const UpdateNumbers& numbers) {
  const DeviceKernels& kernels = memory_.device.kernels();
  const SumPlaces& places = program_.places[static_cast<std::size_t>(i.places)];
  const LocalParameter& p = memory_.parameter(places.parameter);
  const bool is_vector = p.dimensions == 1;
  const auto sums = [&](std::int64_t first) { return data({0, first, 1, 0, 0}); };
  AdafactorStep step;
  step.parameter.decision = numbers.decision;
  if (i.owned >= 0) step.parameter = optimized(owned(i), numbers);
  step.first = i.elements.first;
  step.matrices = p.box.extent[0];
  step.rows = p.box.extent[is_vector ? 2 : 1];
  step.columns = is_vector ? 1 : p.box.extent[2];
  step.whole_rows = p.box.whole[is_vector ? 2 : 1];
  step.whole_columns = is_vector ? 1 : p.box.whole[2];
  step.row_means = memory_.squares(p, StatePart::row_squares);
  if (!is_vector) step.column_means = memory_.squares(p, StatePart::column_squares);
  step.row_sums = sums(places.rows);
  step.column_sums = sums(places.columns);
  step.weight_sums = sums(places.weights);
  step.update_sums = sums(places.updates);
  step.mean_rows = sums(places.means);
  const auto with_scratch = [&](const ScratchKernel<AdafactorStep>& kernel) {
    step.workspace = memory_.backend.workspace(kernel.workspace(step));
    kernel.run(step);
  };
  if (i.kind == UpdateKind::add_squares) with_scratch(kernels.adafactor_squares);
  if (i.kind == UpdateKind::keep_means) kernels.adafactor_means(step);
  if (i.kind == UpdateKind::add_updates) with_scratch(kernels.adafactor_updates);
  if (i.kind == UpdateKind::take_update) kernels.adafactor_step(step);
}

void OptimizerUpdate::update_matrix(const UpdateInstruction& i, const UpdateNumbers& numbers) {
  const LocalParameter& p = memory_.parameter(owned(i).parameter);
  const auto matrix = [&](auto view) {
    view.rows = p.rows();
    view.columns = view.stride = p.columns();
    return view.rows_from(i.elements.first / i.columns, i.rows);
  };
  MuonStep muon = muon_step(i, numbers);
  muon.parameter.rounding.first += i.elements.first;
  muon.parameter.parameter = matrix(muon.parameter.parameter);
  if (muon.parameter.master.is_there()) muon.parameter.master = matrix(muon.parameter.master);
  muon.parameter.gradient = matrix(muon.parameter.gradient);
  muon.momentum_state = matrix(muon.momentum_state);
  const ScratchKernel<MuonStep>& kernel = memory_.device.kernels().muon_step;
  muon.workspace = memory_.backend.workspace(kernel.workspace(muon));
  kernel.run(muon);
}

void OptimizerUpdate::copy(const UpdateInstruction& i) {
  if (i.from.rows == 1 && i.to.rows == 1)
    return memory_.device.copy(Stream::compute, data(i.to), data(i.from), floats(i.to.elements()));
  memory_.device.kernels().cast({view_of(data(i.from), i.from), view_of(data(i.to), i.to)});
}

Communicator& OptimizerUpdate::group_of(const UpdateInstruction& i) const {
  const Section& section = memory_.layout.sections[static_cast<std::size_t>(i.section)];
  if (i.group == GatherGroup::states) return memory_.shard_group(section);
  return section.is_expert ? memory_.groups.expert_matrices() : memory_.groups[Axis::tensor];
}

void OptimizerUpdate::reduce(const UpdateInstruction& i) {
  memory_.device.enqueue(Stream::compute, [all = bytes_of_floats(data(i.to), i.to.elements()), &group = group_of(i)] {
    group.all_reduce(all, ElementFormat::fp32, Reduction::sum);
  });
}

void OptimizerUpdate::gather(const UpdateInstruction& i) {
  memory_.device.enqueue(Stream::compute, [own = bytes_of_floats(data(i.from), i.from.elements()),
                                           all = bytes_of_floats(data(i.to), i.to.elements()),
                                           &group = group_of(i)] { group.all_gather(own, all, ElementFormat::fp32); });
}

}  // namespace plumbline
