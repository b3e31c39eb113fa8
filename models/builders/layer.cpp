#include "models/builders/layer.h"

#include <algorithm>

#include "models/builders/layer_parts.h"

namespace plumbline {
namespace {

/// One layer under construction: the parts with the names that the wirings share.
class Layer {
 public:
  Layer(BlockBuilder& block, const LayerDescription& layer, const LayerVariant& variant)
      : block_(block), layer_(layer), variant_(variant) {}

  TensorId build(TensorId x) {
    switch (layer_.wiring) {
      case LayerWiring::pre_norm:
        x = ops::add(block_, "attention.residual", x, attention(norm("attention.norm", x)));
        return ops::add(block_, "mlp.residual", x, mlp(norm("mlp.norm", x)));
      case LayerWiring::post_norm:
        x = norm("attention.norm", ops::add(block_, "attention.residual", x, attention(x)));
        return norm("mlp.norm", ops::add(block_, "mlp.residual", x, mlp(x)));
      case LayerWiring::sandwich_norm:
        x = ops::add(block_, "attention.residual", x,
                     norm("attention.post_norm", attention(norm("attention.norm", x))));
        return ops::add(block_, "mlp.residual", x, norm("mlp.post_norm", mlp(norm("mlp.norm", x))));
      case LayerWiring::parallel_shared_norm: {
        const TensorId shared = norm("norm", x);
        return joined(x, shared, shared);
      }
      case LayerWiring::parallel_two_norms: break;
    }
    const TensorId first = norm("attention.norm", x);
    return joined(x, first, norm("mlp.norm", x));
  }

 private:
  TensorId norm(const std::string& name, TensorId x) { return ops::norm(block_, name, layer_.norm, x); }
  TensorId dropped(const std::string& name, TensorId x) {
    return layer_.residual_dropout ? ops::dropout(block_, name, x) : x;
  }
  TensorId attention(TensorId x) {
    const TensorId y = variant_.delta_net ? delta_net_part(block_, *layer_.delta_net, layer_.norm, x)
                                          : attention_part(block_, layer_.attention, variant_, layer_.norm, x);
    return dropped("attention.dropout", y);
  }
  TensorId mlp(TensorId x) {
    const TensorId y =
        variant_.mixture ? mixture_part(block_, *layer_.mixture, x) : mlp_part(block_, "mlp", layer_.mlp, x);
    return dropped("mlp.dropout", y);
  }
  TensorId joined(TensorId x, TensorId for_attention, TensorId for_mlp) {
    const TensorId attended = attention(for_attention);
    return ops::add(block_, "residual", x, ops::add(block_, "parts.sum", attended, mlp(for_mlp)));
  }

  BlockBuilder& block_;
  const LayerDescription& layer_;
  const LayerVariant& variant_;
};

/// "layer", or what tells this variant from the others of the network.
std::string variant_name(const LayerVariant& variant, const std::vector<LayerVariant>& all) {
  const auto differs = [&](auto member) {
    return std::any_of(all.begin(), all.end(), [&](const LayerVariant& v) { return v.*member != variant.*member; });
  };
  std::string name = "layer";
  if (differs(&LayerVariant::mixture)) name += variant.mixture ? "_experts" : "_dense";
  if (differs(&LayerVariant::delta_net)) name += variant.delta_net ? "_delta_net" : "_attention";
  if (differs(&LayerVariant::window))
    name += variant.window > 0 ? "_window" : "_global";
  else if (differs(&LayerVariant::rotary))
    name += variant.rotary ? "_rotary" : "_no_positions";
  return name;
}

}  // namespace

TensorId transformer_layer(BlockBuilder& block, const LayerDescription& layer, const LayerVariant& variant,
                           TensorId x) {
  return Layer(block, layer, variant).build(x);
}

void append_layers(std::vector<Block>& blocks, std::vector<BlockRun>& runs, const LayerDescription& layer,
                   const std::vector<LayerVariant>& variants, Dimension tokens, std::int64_t hidden) {
  std::vector<LayerVariant> kinds;
  for (const LayerVariant& variant : variants)
    if (std::find(kinds.begin(), kinds.end(), variant) == kinds.end()) kinds.push_back(variant);
  const auto first = static_cast<std::int32_t>(blocks.size());
  for (const LayerVariant& kind : kinds) {
    BlockBuilder block(variant_name(kind, kinds), BlockKind::layer);
    const TensorId x = block.input("hidden", {batch_dimension, tokens, fixed_dimension(hidden)});
    block.output(transformer_layer(block, layer, kind, x));
    blocks.push_back(block.build());
  }
  for (const LayerVariant& variant : variants) {
    const auto kind = std::find(kinds.begin(), kinds.end(), variant) - kinds.begin();
    const BlockId id(first + static_cast<std::int32_t>(kind));
    if (!runs.empty() && runs.back().block == id)
      ++runs.back().count;
    else
      runs.push_back({id, 1});
  }
}

}  // namespace plumbline
