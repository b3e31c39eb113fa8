#include "core/base/errors.h"
#include "models/builders/vision.h"
#include "models/import/describe_transformer.h"
#include "models/import/other_importers.h"

namespace plumbline {
namespace {

constexpr std::int64_t default_labels = 2;   // configuration_utils.py: num_labels of a config without labels
constexpr std::int64_t default_image = 224;  // configuration_vit.py; He et al., arXiv:1512.03385, section 3.4
constexpr Range image_range{1, 16'384};
constexpr std::size_t most_stages = 1'000;

std::int64_t read_labels(ConfigReader& config) {
  const auto names = config.find({"id2label"});
  const Json::Object* table = names ? names->value().if_object() : nullptr;
  const std::int64_t listed =
      table == nullptr || table->empty() ? default_labels : static_cast<std::int64_t>(table->size());
  return config.integer({"num_labels"}, listed, vocabulary_range);
}

struct Extent {
  std::int64_t height = 0;
  std::int64_t width = 0;
};

/// 224 or [224, 224].
Extent read_extent(ConfigReader& config, Keys keys, std::int64_t when_absent) {
  const auto found = config.find(keys);
  if (found && found->value().if_array() == nullptr) {
    const std::int64_t edge = found->integer(image_range.smallest, image_range.largest);
    return {edge, edge};
  }
  const auto pair = config.integers(keys, image_range);
  if (!pair) return {when_absent, when_absent};
  if (pair->size() != 2)
    throw InputError({found->where(), "has " + std::to_string(pair->size()) + " numbers", "2", ""});
  return {(*pair)[0], (*pair)[1]};
}

LayerDescription describe_vit_layer(ConfigReader& config, std::int64_t hidden) {
  LayerDescription layer;
  layer.norm = OpKind::layer_norm;
  AttentionDescription& a = layer.attention;
  a.heads = a.kv_heads = config.integer({"num_attention_heads"}, 12, head_range);
  require_multiple(config.where({"hidden_size"}), hidden, a.heads, "num_attention_heads");
  a.qk_head_dim = a.v_head_dim = hidden / a.heads;
  a.qkv_bias = bias_if(config.boolean({"qkv_bias"}, true));
  a.output_bias = Bias::yes;
  a.causal = false;
  a.dropout = config.is_positive({"attention_probs_dropout_prob"}, 0.0);
  layer.mlp.width = config.integer({"intermediate_size"}, 3072, width_range);
  layer.mlp.bias = Bias::yes;
  layer.residual_dropout = config.is_positive({"hidden_dropout_prob"}, 0.0);
  return layer;
}

bool is_bottleneck(ConfigReader& config) {
  const std::string type = config.text({"layer_type"}, "bottleneck");
  if (type != "bottleneck" && type != "basic")
    throw InputError({config.where({"layer_type"}), "unknown layer type \"" + type.substr(0, 60) + "\"",
                      "basic or bottleneck", nearest_text(type, {"basic", "bottleneck"})});
  return type == "bottleneck";
}

std::vector<std::int64_t> read_stages(ConfigReader& config, Keys keys, std::vector<std::int64_t> when_absent,
                                      Range range) {
  return config.integers(keys, range).value_or(std::move(when_absent));
}

void require_sound_stages(const ConfigReader& config, const ResidualNetworkDescription& d) {
  if (d.depths.empty() || d.depths.size() > most_stages || d.depths.size() != d.widths.size())
    throw InputError({config.where({"depths"}), "names " + std::to_string(d.depths.size()) + " stages",
                      "as many as hidden_sizes (" + std::to_string(d.widths.size()) + "), 1 to 1000", ""});
  for (const std::int64_t width : d.widths)
    if (d.bottleneck) require_multiple(config.where({"hidden_sizes"}), width, 4, "the bottleneck's reduction");
}

}  // namespace

ImportedGraph import_vit(ConfigReader& config, const std::string& name) {
  VisionTransformerDescription d;
  d.channels = config.integer({"num_channels"}, 3, width_range);
  const Extent image = read_extent(config, {"image_size"}, default_image);
  const Extent patch = read_extent(config, {"patch_size"}, 16);
  d.height = image.height;
  d.width = image.width;
  d.patch = patch.height;
  if (patch.height != patch.width || patch.height > image.height || patch.height > image.width)
    throw InputError({config.where({"patch_size"}), "patches that are not square or larger than the image",
                      "a whole number up to the image's size", ""});
  d.hidden = config.integer({"hidden_size"}, 768, width_range);
  d.layers = config.layer_count({"num_hidden_layers"}, 12, layer_range);
  d.labels = read_labels(config);
  d.layer = describe_vit_layer(config, d.hidden);
  d.embedding_dropout = d.layer.residual_dropout;
  return {vision_transformer(name, d), token_count(d), ""};
}

ImportedGraph import_resnet(ConfigReader& config, const std::string& name) {
  ResidualNetworkDescription d;
  d.channels = config.integer({"num_channels"}, 3, width_range);
  d.image = config.integer({"image_size"}, default_image, {32, image_range.largest});
  d.stem = config.integer({"embedding_size"}, 64, width_range);
  d.bottleneck = is_bottleneck(config);
  d.widths = read_stages(config, {"hidden_sizes"}, {256, 512, 1024, 2048}, width_range);
  d.depths = read_stages(config, {"depths"}, {3, 4, 6, 3}, layer_range);
  require_sound_stages(config, d);
  d.downsample_first_stage = config.boolean({"downsample_in_first_stage"}, false);
  d.downsample_in_first_product = config.boolean({"downsample_in_bottleneck"}, false);
  d.labels = read_labels(config);
  return {residual_network(name, d), 1, ""};
}

}  // namespace plumbline
