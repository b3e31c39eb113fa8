#include "models/network_config.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>

#include "core/base/errors.h"
#include "core/base/found_by_name.h"
#include "core/graph/parameter_count.h"
#include "core/io/json.h"
#include "core/io/json_file.h"
#include "models/embedded.h"
#include "models/import/hugging_face.h"
#include "models/import/onnx/reference.h"
#include "models/network_catalog.h"

namespace plumbline {
namespace {

/// A multimodal config keeps the language model under text_config, a plumbline.network/1 file its config under config.
const Json& language_part(const Json& document) {
  for (const char* key : {"config", "text_config"}) {
    const Json* const part = document.find(key);
    if (part != nullptr && part->if_object() != nullptr) return language_part(*part);
  }
  return document;
}

/// Nothing when it describes another network.
std::optional<std::string> config_of(const Json& document, const Network& network) {
  const Json& part = language_part(document);
  if (part.if_object() == nullptr) return std::nullopt;
  Json::Object config = *part.if_object();
  if (part.find("model_type") == nullptr) config.emplace_back("model_type", network.model_type);
  const Json typed(config);
  try {
    const Network again = import_hugging_face(JsonPlace(typed, network.name), network.name);
    if (again.model_type != network.model_type || parameter_count(again.graph) != parameter_count(network.graph))
      return std::nullopt;
  } catch (const InputError&) {
    return std::nullopt;
  }
  return to_json_text(typed);
}

std::optional<Json> embedded_document(const std::string& name) {
  const auto files = embedded::networks();
  const embedded::EmbeddedFile* found = named(files, name);
  if (found == nullptr) return std::nullopt;
  return parse_json(found->text, name);
}

std::optional<Json> document_at(std::filesystem::path path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) path /= "config.json";
  if (!std::filesystem::is_regular_file(path, ignored)) return std::nullopt;
  try {
    return read_json_file(path);
  } catch (const std::exception&) {
    return std::nullopt;  // a file alongside that only has the name
  }
}

bool is_name_of(const Network& network, std::string_view text) {
  return text == network.name ||
         std::find(network.aliases.begin(), network.aliases.end(), text) != network.aliases.end();
}

}  // namespace

Json network_file_json(const Network& network, Json config) {
  Json::Array aliases;
  for (const std::string& alias : network.aliases) aliases.emplace_back(alias);
  Json::Object file{{"format", "plumbline.network/1"},
                    {"name", network.name},
                    {"aliases", std::move(aliases)},
                    {"source", network.source}};
  if (network.published_parameters) {
    file.emplace_back("published_parameters", *network.published_parameters);
    file.emplace_back("published_source", network.published_source);
  }
  file.emplace_back("config", std::move(config));
  return file;
}

Json config_as(const Json& document, std::string_view model_type) {
  Json::Object config{{"model_type", model_type}};
  if (const Json::Object* members = language_part(document).if_object())
    for (const Json::Member& member : *members)
      if (member.first != "model_type" && member.first != "architectures") config.push_back(member);
  return config;
}

std::string network_file_text(std::string_view name_or_path, const std::optional<std::string>& model_type) {
  if (model_type) {
    const NetworkReadAs read = find_network_as(name_or_path, *model_type);
    return to_json_text(network_file_json(read.network, read.config));
  }
  if (onnx::is_reference(name_or_path))
    throw InputError({std::string(name_or_path.substr(0, 100)), "is a graph, not a config",
                      "a Hugging Face config.json; --model takes the ONNX file as it is", ""});
  const Network network = find_network(name_or_path);
  const std::string config = network_config(network, name_or_path);
  if (config.empty())
    throw InputError({std::string(name_or_path.substr(0, 100)), "its config changed while it was read", "", ""});
  return to_json_text(network_file_json(network, parse_json(config, network.name)));
}

std::string network_config(const Network& network, std::string_view name_or_path) {
  if (onnx::is_reference(name_or_path)) return "";  // a graph has none, and its file may be large
  std::array documents{embedded_document(network.name), document_at(name_or_path)};
  // A file may have the name of a network that ships, and say something else of what has no parameters: dropout.
  if (!is_name_of(network, name_or_path)) std::swap(documents[0], documents[1]);
  for (const auto& document : documents) {
    if (!document) continue;
    if (const auto config = config_of(*document, network)) return *config;
  }
  return "";
}

}  // namespace plumbline
