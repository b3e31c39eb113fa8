#include "models/network_config.h"

#include <filesystem>
#include <optional>

#include "core/base/errors.h"
#include "core/base/found_by_name.h"
#include "core/graph/parameter_count.h"
#include "core/io/json.h"
#include "models/embedded.h"
#include "models/import/hugging_face.h"

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

}  // namespace

std::string network_config(const Network& network, std::string_view name_or_path) {
  for (const auto& document : {embedded_document(network.name), document_at(name_or_path)}) {
    if (!document) continue;
    if (const auto config = config_of(*document, network)) return *config;
  }
  return "";
}

}  // namespace plumbline
