// What a rank does with the pieces of parameters whose states it holds: their norm, their update, a look at them.
#include "runtime/device/device_kernels.h"
#include "runtime/execution/element_views.h"
#include "runtime/execution/parameter_store.h"

namespace plumbline {
namespace {

float value_of(const DeviceKernels& kernels, const ConstTensorView& view, std::int64_t element) {
  float value = 0;
  kernels.cast({view.columns_from(element, 1), dense_view(&value, NumberFormat::fp32, 1, 1)});
  return value;
}

/// As published, Adam (Kingma and Ba, arXiv:1412.6980, algorithm 1), AdaGrad and RMSProp have no weight decay.
bool decays(Optimizer optimizer) {
  return optimizer != Optimizer::adam && optimizer != Optimizer::adagrad && optimizer != Optimizer::rmsprop;
}

}  // namespace

TensorView ParameterStore::owned_weight(const OwnedPiece& piece) const {
  const LocalParameter& p = layout_.parameters[static_cast<std::size_t>(piece.parameter)];
  const Section& section = layout_.sections[static_cast<std::size_t>(p.section)];
  const std::int64_t place = p.first + piece.first - section.part_begin();
  return row(weight_part(section).data() + bytes_of(place, formats_.weight), formats_.weight, piece.count);
}

TensorView ParameterStore::owned_gradient(const OwnedPiece& piece) const {
  const LocalParameter& p = layout_.parameters[static_cast<std::size_t>(piece.parameter)];
  const Section& section = layout_.sections[static_cast<std::size_t>(p.section)];
  const std::int64_t place = p.first + piece.first - section.part_begin();
  return row(gradient_part(section).data() + bytes_of(place, formats_.gradient), formats_.gradient, piece.count);
}

bool ParameterStore::answers_for(const LocalParameter& p) const {
  return plumbline::answers_for(strategy_, p, groups_.rank());
}

ParameterStore::Health ParameterStore::health() const {
  const DeviceKernels& kernels = device_.kernels();
  Health health;
  for (const OwnedPiece& piece : layout_.owned) {
    if (!answers_for(layout_.parameters[static_cast<std::size_t>(piece.parameter)])) continue;
    const ConstTensorView gradient = owned_gradient(piece);
    health.sum_of_squares += kernels.sum_of_squares(gradient);
    health.has_non_finite = health.has_non_finite || kernels.has_non_finite(gradient);
  }
  return health;
}

void ParameterStore::update(const OptimizerSettings& settings, double learning_rate, double factor, std::int64_t step) {
  const bool gathers = gathers_matrices();
  for (const OwnedPiece& piece : layout_.owned) {
    const LocalParameter& p = layout_.parameters[static_cast<std::size_t>(piece.parameter)];
    if (gathers && p.is_layer_matrix) continue;
    update_piece(piece, optimized(piece, settings, learning_rate, factor), settings, step);
  }
  if (gathers) update_matrices(settings, learning_rate, factor);
  if (strategy_.zero_stage == 0 || strategy_.zero_stage >= 3) return;
  for (const Section& section : layout_.sections)
    if (section.is_trained && section.ranks > 1) is_stale_[static_cast<std::size_t>(section.execution)] = true;
}

OptimizedParameter ParameterStore::optimized(const OwnedPiece& piece, const OptimizerSettings& settings,
                                             double learning_rate, double factor) const {
  const LocalParameter& p = layout_.parameters[static_cast<std::size_t>(piece.parameter)];
  OptimizedParameter update;
  update.parameter = owned_weight(piece);
  if (masters_) update.master = row(at(masters_, piece.states, *formats_.master), *formats_.master, piece.count);
  update.gradient = owned_gradient(piece);
  update.gradient_factor = static_cast<float>(factor);
  if (settings.clip_value > 0) update.gradient_limit = static_cast<float>(settings.clip_value);
  update.learning_rate = static_cast<float>(learning_rate);
  update.weight_decay = p.dimensions >= 2 && decays(optimizer_) ? settings.weight_decay : 0;
  return update;
}

TensorView ParameterStore::moment(const OwnedPiece& piece, std::size_t state) const {
  return row(at(moments_, piece.moments[state], formats_.optimizer_state), formats_.optimizer_state, piece.count);
}

void ParameterStore::update_piece(const OwnedPiece& piece, const OptimizedParameter& update,
                                  const OptimizerSettings& settings, std::int64_t step) {
  const LocalParameter& p = layout_.parameters[static_cast<std::size_t>(piece.parameter)];
  const DeviceKernels& kernels = device_.kernels();
  const auto adamw = [&] {
    kernels.adamw_step(
        {update, moment(piece, 0), moment(piece, 1), settings.beta1, settings.beta2, settings.epsilon, step});
  };
  switch (optimizer_) {
    case Optimizer::sgd: return kernels.sgd_step({update});
    case Optimizer::momentum: return kernels.sgd_step({update, moment(piece, 0), settings.momentum});
    case Optimizer::adagrad: return kernels.adagrad_step({update, moment(piece, 0), settings.epsilon});
    case Optimizer::rmsprop: return kernels.rmsprop_step({update, moment(piece, 0), settings.beta2, settings.epsilon});
    case Optimizer::lion: return kernels.lion_step({update, moment(piece, 0), settings.beta1, settings.beta2});
    case Optimizer::adam:
    case Optimizer::adamw: return adamw();
    case Optimizer::muon: {
      if (!p.is_layer_matrix) return adamw();
      const auto matrix = [&](auto view) {
        view.rows = p.rows();
        view.columns = view.stride = p.columns();
        return view;
      };
      OptimizedParameter whole = update;
      whole.parameter = matrix(update.parameter);
      if (update.master.is_there()) whole.master = matrix(update.master);
      whole.gradient = matrix(update.gradient);
      MuonStep muon{whole, matrix(moment(piece, 0)), settings.momentum};
      muon.workspace = backend_.workspace(kernels.muon_step.workspace(muon));
      return kernels.muon_step.run(muon);
    }
  }
}

void ParameterStore::look_at_state(const Look& look) const {
  const auto show = [&](const LocalParameter& p, ElementRange elements, const Held& held, std::int64_t first,
                        NumberFormat format) {
    look(p, elements, {at(held, first, format), static_cast<std::size_t>(bytes_of(elements.count, format))});
  };
  for (const LocalParameter& p : layout_.parameters) {
    const Section& section = layout_.sections[static_cast<std::size_t>(p.section)];
    const bool is_divided = strategy_.zero_stage >= (p.is_trained ? 1 : 3);
    const std::int64_t begin = is_divided ? std::max(p.first, section.part_begin()) : p.first;
    const std::int64_t end =
        is_divided ? std::min(p.first + p.elements(), section.part_begin() + section.part()) : p.first + p.elements();
    const std::int64_t held_begin = strategy_.zero_stage >= 3 ? section.part_begin() : 0;
    if (begin < end)
      show(p, {begin - p.first, end - begin}, weights_, section.weights + begin - held_begin, formats_.weight);
  }
  const OptimizerFacts& facts = plumbline::facts(optimizer_);
  for (const OwnedPiece& piece : layout_.owned) {
    const LocalParameter& p = layout_.parameters[static_cast<std::size_t>(piece.parameter)];
    const ElementRange elements{piece.first, piece.count};
    if (masters_) show(p, elements, masters_, piece.states, *formats_.master);
    const int moments = p.is_layer_matrix ? facts.matrix_states : facts.other_states;
    for (int m = 0; m < moments; ++m)
      show(p, elements, moments_, piece.moments[static_cast<std::size_t>(m)], formats_.optimizer_state);
  }
}

float ParameterStore::master_value(const OwnedPiece& piece, std::int64_t element) const {
  if (!masters_) return value_of(device_.kernels(), owned_weight(piece), element);
  return value_of(device_.kernels(), row(at(masters_, piece.states, *formats_.master), *formats_.master, piece.count),
                  element);
}

void ParameterStore::visit(ParameterPart what, const Visit& visit) const {
  for (const OwnedPiece& piece : layout_.owned) {
    const LocalParameter& p = layout_.parameters[static_cast<std::size_t>(piece.parameter)];
    if (!answers_for(p)) continue;
    for (std::int64_t e = 0; e < piece.count; ++e)
      visit(p, p.box.whole_index(piece.first + e),
            what == ParameterPart::weights ? master_value(piece, e)
                                           : value_of(device_.kernels(), owned_gradient(piece), e));
  }
}

}  // namespace plumbline
