#include "runtime/execution/optimizer_update.h"

#include "runtime/device/device_kernels.h"
#include "runtime/execution/parameter_init.h"

namespace plumbline {
OptimizedParameter optimized(const ParameterMemory& memory, const OwnedRange& owned, const UpdateNumbers& numbers) {
  const OptimizerSettings& settings = numbers.settings;
  OptimizedParameter update;
  update.parameter = memory.owned_weight(owned);
  if (memory.has_masters()) update.master = memory.owned_master(owned);
  update.gradient = memory.owned_gradient(owned);
  update.decision = numbers.decision;
  if (settings.clip_value > 0) update.gradient_limit = static_cast<float>(settings.clip_value);
  update.rate_of_step = numbers.learning_rate;
  const bool is_matrix = memory.parameter(owned.parameter).dimensions >= 2;
  update.weight_decay =
      is_matrix && facts(memory.training.optimizer).reads.has(Hyperparameter::weight_decay) ? settings.weight_decay : 0;
  if (settings.rounding == WeightRounding::stochastic && rounds_weights(memory.formats)) {
    const LocalParameter& p = memory.parameter(owned.parameter);
    update.rounding = {
        .is_on = true, .parameter = hash_of(p.name), .box = p.box, .first = owned.first, .seed_of_step = numbers.seed};
  }
  return update;
}

void OptimizerUpdate::update(const UpdateNumbers& numbers) {
  const bool gathers = matrices_.gathers();
  for (const OwnedRange& owned : memory_.layout.owned) {
    if (gathers && memory_.parameter(owned.parameter).is_layer_matrix) continue;
    update_range(owned, numbers);
  }
  if (gathers) matrices_.update(numbers);
}

void OptimizerUpdate::update_range(const OwnedRange& owned, const UpdateNumbers& numbers) {
  const OptimizedParameter update = optimized(memory_, owned, numbers);
  const OptimizerSettings& settings = numbers.settings;
  const DeviceKernels& kernels = memory_.device.kernels();
  const auto moment = [&](std::size_t state) { return memory_.moment(owned, state); };
  const auto adamw = [&] {
    kernels.adamw_step({update, moment(0), moment(1), settings.beta1, settings.beta2, settings.epsilon});
  };
  switch (memory_.training.optimizer) {
    case Optimizer::sgd: return kernels.sgd_step({update});
    case Optimizer::momentum: return kernels.sgd_step({update, moment(0), settings.momentum});
    case Optimizer::adagrad: return kernels.adagrad_step({update, moment(0), settings.epsilon});
    case Optimizer::rmsprop: return kernels.rmsprop_step({update, moment(0), settings.beta2, settings.epsilon});
    case Optimizer::lion: return kernels.lion_step({update, moment(0), settings.beta1, settings.beta2});
    case Optimizer::adam:
    case Optimizer::adamw: return adamw();
    case Optimizer::muon:
      if (!memory_.parameter(owned.parameter).is_layer_matrix) return adamw();
      return update_matrix(owned, update, settings);
  }
}

/// A tensor of experts is a matrix for each of them.
void OptimizerUpdate::update_matrix(const OwnedRange& owned, const OptimizedParameter& update,
                                    const OptimizerSettings& settings) {
  const LocalParameter& p = memory_.parameter(owned.parameter);
  const DeviceKernels& kernels = memory_.device.kernels();
  const std::int64_t planes = p.box.extent[0];
  for (std::int64_t plane = 0; plane < planes; ++plane) {
    const auto matrix = [&](auto view) {
      view.rows = p.rows();
      view.columns = view.stride = p.columns();
      return view.rows_from(plane * view.rows / planes, view.rows / planes);
    };
    OptimizedParameter whole = update;
    whole.rounding.first += plane * p.rows() / planes * p.columns();
    whole.parameter = matrix(update.parameter);
    if (update.master.is_there()) whole.master = matrix(update.master);
    whole.gradient = matrix(update.gradient);
    MuonStep muon{whole, matrix(memory_.moment(owned, 0)), settings.momentum};
    muon.workspace = memory_.backend.workspace(kernels.muon_step.workspace(muon));
    kernels.muon_step.run(muon);
  }
}

}  // namespace plumbline
