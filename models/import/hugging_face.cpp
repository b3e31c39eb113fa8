#include "models/import/hugging_face.h"

#include <algorithm>

#include "core/base/errors.h"
#include "core/graph/parameter_count.h"
#include "models/builders/language_model.h"
#include "models/import/describe_operators.h"
#include "models/import/describe_transformer.h"
#include "models/import/other_importers.h"

namespace plumbline {
namespace {

struct OtherArchitecture {
  std::string_view model_type;
  std::string_view class_prefix;
  ImportedGraph (*import)(ConfigReader&, const std::string&);
};
constexpr OtherArchitecture other_architectures[] = {
    {"t5", "T5", import_t5}, {"vit", "ViT", import_vit}, {"resnet", "ResNet", import_resnet}};

/// "LlamaForCausalLM" is a class of "Llama", "Llama4ForCausalLM" is not.
bool is_class_of(std::string_view class_name, std::string_view prefix) {
  if (!class_name.starts_with(prefix)) return false;
  const std::string_view rest = class_name.substr(prefix.size());
  return rest.starts_with("For") || rest.starts_with("Model") || rest.starts_with("LMHead");
}

/// Calls `use(row)` for the first row of both tables that `matches`; whether there was one.
template <class Matches>
std::optional<std::string> type_that(Matches matches) {
  for (const Architecture& row : architectures())
    if (matches(row.model_type, row.class_prefix)) return std::string(row.model_type);
  for (const OtherArchitecture& row : other_architectures)
    if (matches(row.model_type, row.class_prefix)) return std::string(row.model_type);
  return std::nullopt;
}

/// The type whose keys a config of an unknown type shares.
struct Hint {
  std::string_view key;
  std::string_view model_type;
};
constexpr Hint hints[] = {
    {"kv_lora_rank", "deepseek_v3"},
    {"num_local_experts", "mixtral"},
    {"n_routed_experts", "glm4_moe"},
    {"num_experts", "qwen3_moe"},
    {"d_kv", "t5"},
    {"patch_size", "vit"},
    {"depths", "resnet"},
    {"n_embd", "gpt2"},
    {"type_vocab_size", "bert"},
};

/// By its name, else by a key that few architectures have, else what most decoders are built like.
std::string likeliest_type(const Json& config, const std::string& found, const std::vector<std::string>& known) {
  if (const auto near = nearest_names(found, known, 1); !near.empty()) return near.front();
  for (const Hint& hint : hints)
    if (config.find(hint.key) != nullptr) return std::string(hint.model_type);
  return "llama";
}

[[noreturn]] void refuse_type(const JsonPlace& config, const ConfigReader& reader, const std::string& found) {
  std::string keys;
  for (const Json::Member& member : *config.value().if_object()) {
    constexpr std::size_t longest_list = 300;
    if (keys.size() > longest_list) {
      keys += ", ...";
      break;
    }
    keys += (keys.empty() ? "" : ", ") + member.first.substr(0, 40);
  }
  const std::string what =
      found.empty() ? "model_type is missing" : "unknown model_type \"" + found.substr(0, 60) + "\"";
  const std::vector<std::string> known = hugging_face_model_types();
  const std::string type = likeliest_type(config.value(), found, known);
  std::string expected = "one of";
  for (const std::string& one : known) expected += " " + one;
  const std::string file = config.where().substr(0, config.where().find(":/"));
  throw InputError({reader.where({"model_type"}), what + " (keys found: " + keys + ")", expected,
                    type + " (plan models " + file + " --as " + type + " --out network.json reads it so)"});
}

std::string resolve_type(const JsonPlace& config, ConfigReader& reader) {
  const std::string stated = reader.text({"model_type"}, "");
  if (const auto type = type_that([&](auto row_type, auto) { return row_type == stated; })) return *type;
  const auto classes = reader.find({"architectures"});
  const Json::Array* names = classes ? classes->value().if_array() : nullptr;
  if (names != nullptr && !names->empty() && names->front().if_string() != nullptr) {
    const std::string& name = *names->front().if_string();
    if (const auto type = type_that([&](auto, auto prefix) { return is_class_of(name, prefix); })) return *type;
  }
  refuse_type(config, reader, stated);
}

/// Null: an architecture of its own.
const Architecture* row_of(const std::string& type) {
  const auto rows = architectures();
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const Architecture& a) { return a.model_type == type; });
  return row == rows.end() ? nullptr : &*row;
}

ImportedGraph import_as(const std::string& type, ConfigReader& config, const std::string& name) {
  for (const OtherArchitecture& row : other_architectures)
    if (row.model_type == type) {
      ImportedGraph imported = row.import(config, name);
      imported.constants.not_executed.push_back(
          {config.where({"model_type"}), type + " is not executed", "a decoder language model", ""});
      return imported;
    }
  const Architecture* const row = row_of(type);
  check(row != nullptr, "a resolved type is in a table");
  const TransformerDescription description = describe_transformer(config, *row);
  return {language_model(name, description), description.default_sequence_length, description.note,
          operator_constants(config, *row)};
}

/// Multimodal configs keep the language model under text_config.
JsonPlace language_part(const JsonPlace& config) {
  const auto text = ConfigReader(config).find({"text_config"});
  return text && text->value().if_object() != nullptr ? *text : config;
}

/// The type of a nested part that does not state its own.
std::string nested_type(const JsonPlace& config, const JsonPlace& part, ConfigReader& reader) {
  if (part.value().find("model_type") != nullptr) return resolve_type(part, reader);
  const Json* outer = config.value().find("model_type");
  const std::string stated = outer != nullptr && outer->if_string() != nullptr ? *outer->if_string() : "";
  const std::string candidate = stated + "_text";
  if (const auto type = type_that([&](auto row_type, auto) { return row_type == candidate; })) return *type;
  return resolve_type(part, reader);
}

std::string type_of(const JsonPlace& config, const JsonPlace& part, ConfigReader& reader) {
  return part.where() != config.where() ? nested_type(config, part, reader) : resolve_type(part, reader);
}

}  // namespace

void require_countable(const std::string& where, const Graph& graph) {
  constexpr double most_parameters = 1e16;
  double total = 0.0;
  for (const BlockRun& run : graph.runs())
    for (const Tensor& tensor : graph.block(run.block).tensors()) {
      if (tensor.role != TensorRole::parameter) continue;
      double elements = static_cast<double>(run.count);
      for (const Dimension& dimension : tensor.shape) elements *= static_cast<double>(dimension.factor);
      total += elements;
    }
  if (total > most_parameters) throw InputError({where, "describes more than 10^16 parameters", "at most 10^16", ""});
}

std::vector<std::string> hugging_face_model_types() {
  std::vector<std::string> types;
  for (const Architecture& row : architectures()) types.emplace_back(row.model_type);
  for (const OtherArchitecture& row : other_architectures) types.emplace_back(row.model_type);
  std::sort(types.begin(), types.end());
  return types;
}

std::optional<DescribedTransformer> described_transformer(const JsonPlace& config) {
  const ConfigReader must_be_object(config);
  const JsonPlace part = language_part(config);
  ConfigReader reader(part);
  const std::string type = type_of(config, part, reader);
  const Architecture* const row = row_of(type);
  if (row == nullptr) return std::nullopt;
  TransformerDescription description = describe_transformer(reader, *row);
  return DescribedTransformer{type, std::move(description), operator_constants(reader, *row)};
}

Network import_hugging_face(const JsonPlace& config, std::string name, LayerCount layers) {
  const ConfigReader must_be_object(config);
  const JsonPlace part = language_part(config);
  ConfigReader reader(part);
  const bool nested = part.where() != config.where();
  const std::string type = type_of(config, part, reader);
  ImportedGraph imported = import_as(type, reader, name);
  reader.refuse_near_misses();
  if (layers == LayerCount::stated) reader.require_layers();
  require_countable(config.where(), imported.graph);
  if (nested)
    imported.note += std::string(imported.note.empty() ? "" : "; ") + "the text model only, without vision tower";
  return Network{std::move(name),
                 {},
                 type,
                 "",
                 std::nullopt,
                 "",
                 imported.default_sequence_length,
                 std::move(imported.note),
                 std::move(imported.graph),
                 std::move(imported.constants)};
}

}  // namespace plumbline
