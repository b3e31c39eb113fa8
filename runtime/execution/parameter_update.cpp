// What a rank does with the owned_ranges of parameters whose states it holds: their norm and their update.
#include "runtime/device/device_kernels.h"
#include "runtime/execution/element_views.h"
#include "runtime/execution/parameter_store.h"

namespace plumbline {
TensorView ParameterStore::owned_weight(const OwnedRange& owned) const {
  const LocalParameter& p = layout_.parameters[static_cast<std::size_t>(owned.parameter)];
  const Section& section = layout_.sections[static_cast<std::size_t>(p.section)];
  const std::int64_t place = p.first + owned.first - section.part_begin();
  return row(weight_part(section).data() + bytes_of(place, formats_.weight), formats_.weight, owned.count);
}

TensorView ParameterStore::owned_gradient(const OwnedRange& owned) const {
  const LocalParameter& p = layout_.parameters[static_cast<std::size_t>(owned.parameter)];
  const Section& section = layout_.sections[static_cast<std::size_t>(p.section)];
  const std::int64_t place = p.first + owned.first - section.part_begin();
  return row(gradient_part(section).data() + bytes_of(place, formats_.gradient), formats_.gradient, owned.count);
}

bool ParameterStore::answers_for(const LocalParameter& p) const {
  return plumbline::answers_for(strategy_, p, groups_.rank());
}

TensorView ParameterStore::owned_master(const OwnedRange& owned) const {
  if (!masters_) return owned_weight(owned);
  return row(at(masters_, owned.states, *formats_.master), *formats_.master, owned.count);
}

void ParameterStore::add_health(TensorHealth* sum) const {
  for (const OwnedRange& owned : layout_.owned)
    if (answers_for(layout_.parameters[static_cast<std::size_t>(owned.parameter)]))
      device_.kernels().add_health(owned_gradient(owned), sum);
}

void ParameterStore::update(const OptimizerSettings& settings, double learning_rate, double factor, std::int64_t step) {
  const bool gathers = gathers_matrices();
  for (const OwnedRange& owned : layout_.owned) {
    const LocalParameter& p = layout_.parameters[static_cast<std::size_t>(owned.parameter)];
    if (gathers && p.is_layer_matrix) continue;
    update_range(owned, optimized(owned, settings, learning_rate, factor), settings, step);
  }
  if (gathers) update_matrices(settings, learning_rate, factor);
  if (strategy_.zero_stage == 0 || strategy_.zero_stage >= 3) return;
  for (const Section& section : layout_.sections)
    if (section.is_trained && section.ranks > 1) is_stale_[static_cast<std::size_t>(section.execution)] = true;
}

OptimizedParameter ParameterStore::optimized(const OwnedRange& owned, const OptimizerSettings& settings,
                                             double learning_rate, double factor) const {
  const LocalParameter& p = layout_.parameters[static_cast<std::size_t>(owned.parameter)];
  OptimizedParameter update;
  update.parameter = owned_weight(owned);
  if (masters_) update.master = owned_master(owned);
  update.gradient = owned_gradient(owned);
  update.gradient_factor = static_cast<float>(factor);
  if (settings.clip_value > 0) update.gradient_limit = static_cast<float>(settings.clip_value);
  update.learning_rate = static_cast<float>(learning_rate);
  const bool decays = p.dimensions >= 2 && facts(optimizer_).reads.has(Hyperparameter::weight_decay);
  update.weight_decay = decays ? settings.weight_decay : 0;
  return update;
}

TensorView ParameterStore::moment(const OwnedRange& owned, std::size_t state) const {
  return row(at(moments_, owned.moments[state], formats_.optimizer_state), formats_.optimizer_state, owned.count);
}

void ParameterStore::update_range(const OwnedRange& owned, const OptimizedParameter& update,
                                  const OptimizerSettings& settings, std::int64_t step) {
  const LocalParameter& p = layout_.parameters[static_cast<std::size_t>(owned.parameter)];
  const DeviceKernels& kernels = device_.kernels();
  const auto adamw = [&] {
    kernels.adamw_step(
        {update, moment(owned, 0), moment(owned, 1), settings.beta1, settings.beta2, settings.epsilon, step});
  };
  switch (optimizer_) {
    case Optimizer::sgd: return kernels.sgd_step({update});
    case Optimizer::momentum: return kernels.sgd_step({update, moment(owned, 0), settings.momentum});
    case Optimizer::adagrad: return kernels.adagrad_step({update, moment(owned, 0), settings.epsilon});
    case Optimizer::rmsprop: return kernels.rmsprop_step({update, moment(owned, 0), settings.beta2, settings.epsilon});
    case Optimizer::lion: return kernels.lion_step({update, moment(owned, 0), settings.beta1, settings.beta2});
    case Optimizer::adam:
    case Optimizer::adamw: return adamw();
    case Optimizer::muon: {
      if (!p.is_layer_matrix) return adamw();
      const std::int64_t planes = p.box.extent[0];  // experts, each of which has a matrix of its own
      for (std::int64_t plane = 0; plane < planes; ++plane) {
        const auto matrix = [&](auto view) {
          view.rows = p.rows();
          view.columns = view.stride = p.columns();
          return view.rows_from(plane * view.rows / planes, view.rows / planes);
        };
        OptimizedParameter whole = update;
        whole.parameter = matrix(update.parameter);
        if (update.master.is_there()) whole.master = matrix(update.master);
        whole.gradient = matrix(update.gradient);
        MuonStep muon{whole, matrix(moment(owned, 0)), settings.momentum};
        muon.workspace = backend_.workspace(kernels.muon_step.workspace(muon));
        kernels.muon_step.run(muon);
      }
      return;
    }
  }
}

}  // namespace plumbline
