#include "runtime/run/checkpoint_catalogue.h"

#include <algorithm>
#include <set>

#include "core/base/errors.h"
#include "core/base/found_by_name.h"
#include "core/io/json.h"

namespace plumbline {
namespace {

constexpr std::int64_t most_file_bytes = 5'000'000'000;  // transformers, save_pretrained: max_shard_size

StoredFormat stored(NumberFormat format) {
  if (format == NumberFormat::bf16) return StoredFormat::bf16;
  return format == NumberFormat::fp16 ? StoredFormat::fp16 : StoredFormat::fp32;
}

/// All parameters of the network, as one rank would hold them.
ParameterLayout whole_layout(const TrainingJob& job) {
  return parameter_layout(job.graph, Strategy(), job.training, {{0, std::ssize(job.graph.sequence())}}, 0);
}

std::vector<WholeParameter> whole_parameters(const ParameterLayout& layout) {
  std::vector<WholeParameter> parameters;
  for (const LocalParameter& p : layout.parameters) parameters.push_back({p.name, p.box.whole, p.dimensions, p.heads});
  return parameters;
}

std::string_view moment_name(const LocalParameter& p, Optimizer optimizer, StatePart part) {
  if (part == StatePart::second_moment) return "exp_avg_sq";
  return p.is_layer_matrix ? facts(optimizer).matrix_state : facts(optimizer).other_state;
}

/// A tensor's weights, and its state where it is trained.
class TensorMaker {
 public:
  TensorMaker(const ParameterLayout& layout, const Training& training)
      : layout_(layout), formats_(training.formats()), optimizer_(training.optimizer) {}

  [[nodiscard]] CheckpointTensor weight(const PublishedTensor& tensor) const {
    return {{tensor.name, stored(formats_.weight), tensor.shape}, StatePart::weight, tensor.parts};
  }
  /// Means of squared gradients, whose rows and columns are those of the network's own parameter.
  void add_squares(std::vector<CheckpointTensor>& to) const {
    const OptimizerFacts& row = facts(optimizer_);
    if (!row.factors_squares) return;
    for (const LocalParameter& p : layout_.parameters) {
      if (!p.is_trained) continue;
      const auto add = [&](StatePart part, std::string_view name) {
        const TensorBox box = box_of(p, part);
        const std::int64_t rows = p.dimensions == 1 ? box.whole[2] : box.whole[0] * box.whole[1];
        const std::int64_t columns = p.dimensions == 1 ? 1 : box.whole[2];
        std::vector<std::int64_t> shape{rows, columns};
        if (p.dimensions == 1) shape = {rows};
        TensorPart whole{p.name};
        whole.rows_together = rows;
        whole.row_stride = columns;
        to.push_back({{p.name + "." + std::string(name), stored(formats_.optimizer_state), std::move(shape)},
                      part,
                      {std::move(whole)}});
      };
      add(StatePart::row_squares, p.dimensions == 1 ? row.other_state : row.matrix_state);
      if (p.dimensions > 1) add(StatePart::column_squares, "col_var");
    }
  }
  void add_state(std::vector<CheckpointTensor>& to, const PublishedTensor& tensor) const {
    const LocalParameter& p = parameter(tensor.parts.front().parameter);
    for (const TensorPart& part : tensor.parts)
      check(parameter(part.parameter).is_trained == p.is_trained, "what is published together is trained together");
    if (!p.is_trained) return;
    const auto add = [&](StatePart part, std::string_view name, NumberFormat format) {
      to.push_back({{tensor.name + "." + std::string(name), stored(format), tensor.shape}, part, tensor.parts});
    };
    if (formats_.master) add(StatePart::master, "master", *formats_.master);
    const int moments = moments_of(p, optimizer_);
    for (const StatePart part : {StatePart::first_moment, StatePart::second_moment})
      if (moments > (part == StatePart::first_moment ? 0 : 1))
        add(part, moment_name(p, optimizer_, part), formats_.optimizer_state);
  }

 private:
  [[nodiscard]] const LocalParameter& parameter(const std::string& name) const {
    const LocalParameter* found = named(layout_.parameters, name);
    check(found != nullptr, "a published tensor is made of the network's parameters");
    return *found;
  }

  const ParameterLayout& layout_;
  PrecisionFormats formats_;
  Optimizer optimizer_;
};

std::string five_digits(std::size_t number) {
  const std::string text = std::to_string(number);
  return std::string(text.size() < 5 ? 5 - text.size() : 0, '0') + text;
}

/// "model.safetensors", or "model-00001-of-00003.safetensors" and so on.
void add_files(std::vector<CheckpointFile>& files, const std::string& name, std::vector<CheckpointTensor> tensors) {
  std::vector<CheckpointFile> added;
  std::int64_t bytes = most_file_bytes;
  for (CheckpointTensor& tensor : tensors) {
    if (bytes + tensor.header.bytes() > most_file_bytes) {
      added.emplace_back();
      bytes = 0;
    }
    bytes += tensor.header.bytes();
    added.back().tensors.push_back(std::move(tensor));
  }
  for (std::size_t i = 0; i < added.size(); ++i) {
    const std::string number = added.size() == 1 ? "" : "-" + five_digits(i + 1) + "-of-" + five_digits(added.size());
    added[i].name = name + number + ".safetensors";
    std::sort(
        added[i].tensors.begin(), added[i].tensors.end(),
        [](const CheckpointTensor& a, const CheckpointTensor& b) { return is_written_before(a.header, b.header); });
    files.push_back(std::move(added[i]));
  }
}

/// transformers' index of a model in several files.
TextFile index_of(const CheckpointCatalogue& catalogue) {
  std::int64_t bytes = 0;
  Json::Object places;
  for (const CheckpointFile& file : catalogue.files) {
    if (!file.name.starts_with("model-")) continue;
    for (const CheckpointTensor& tensor : file.tensors) {
      bytes += tensor.header.bytes();
      places.emplace_back(tensor.header.name, file.name);
    }
  }
  const Json index = Json::Object{{"metadata", Json::Object{{"total_size", bytes}}}, {"weight_map", std::move(places)}};
  return {"model.safetensors.index.json", to_json_text(index)};
}

/// PEFT's description of adapters y + B A x.
TextFile adapter_config(const TrainingJob& job, const CheckpointCatalogue& catalogue) {
  std::set<std::string> modules;
  for (const PublishedTensor& tensor : catalogue.network.tensors) {
    if (!tensor.is_adapter) continue;
    const std::string path = tensor.name.substr(0, tensor.name.find(".lora_"));
    modules.insert(path.substr(path.rfind('.') + 1));
  }
  const Json config = Json::Object{{"peft_type", "LORA"},
                                   {"task_type", "CAUSAL_LM"},
                                   {"base_model_name_or_path", ".."},
                                   {"r", job.training.adaptation.lora_rank},
                                   {"lora_alpha", job.training.adaptation.lora_rank},
                                   {"lora_dropout", 0.0},
                                   {"bias", "none"},
                                   {"fan_in_fan_out", job.network.model_type == "gpt2"},
                                   {"inference_mode", true},
                                   {"target_modules", Json::Array(modules.begin(), modules.end())}};
  return {"adapter/adapter_config.json", to_json_text(config)};
}

}  // namespace

Bytes CheckpointCatalogue::bytes() const {
  Bytes sum(0);
  for (const CheckpointFile& file : files)
    for (const CheckpointTensor& tensor : file.tensors) sum += Bytes(tensor.header.bytes());
  return sum;
}

CheckpointCatalogue checkpoint_catalogue(const TrainingJob& job) {
  const ParameterLayout layout = whole_layout(job);
  const TensorMaker make(layout, job.training);
  CheckpointCatalogue catalogue{published_network(job.network.model_type, whole_parameters(layout)), {}};
  std::vector<CheckpointTensor> model;
  std::vector<CheckpointTensor> adapters;
  std::vector<CheckpointTensor> optimizer;
  for (const PublishedTensor& tensor : catalogue.network.tensors) {
    (tensor.is_adapter ? adapters : model).push_back(make.weight(tensor));
    make.add_state(optimizer, tensor);
  }
  make.add_squares(optimizer);
  add_files(catalogue.files, "model", std::move(model));
  add_files(catalogue.files, "adapter/adapter_model", std::move(adapters));
  add_files(catalogue.files, "optimizer", std::move(optimizer));
  return catalogue;
}

std::vector<TextFile> companions(const TrainingJob& job, const CheckpointCatalogue& catalogue) {
  std::vector<TextFile> files;
  if (!job.network.config.empty()) files.push_back({"config.json", job.network.config});
  if (catalogue.files.front().name.starts_with("model-")) files.push_back(index_of(catalogue));
  if (catalogue.network.has_adapter_names) files.push_back(adapter_config(job, catalogue));
  return files;
}

}  // namespace plumbline
