#include "models/network_file.h"

#include <limits>

#include "core/io/name_json.h"
#include "models/import/hugging_face.h"

namespace plumbline {
namespace {

constexpr std::string_view network_format = "plumbline.network/1";

std::vector<std::string> read_names(JsonObject& object, std::string_view key) {
  std::vector<std::string> result;
  for (const JsonPlace& element : object.at(key).elements()) result.push_back(name_from_json(element));
  return result;
}

std::string optional_string(JsonObject& object, std::string_view key) {
  const auto found = object.find(key);
  return found ? found->string() : "";
}

std::string joined(const std::string& first, const std::string& second) {
  return first.empty() || second.empty() ? first + second : first + " " + second;
}

Network read_own_format(const JsonPlace& document) {
  JsonObject object = open_document(document, network_format);
  const JsonPlace config = object.at("config");
  Network network = import_hugging_face(config, name_from_json(object.at("name")));
  network.aliases = read_names(object, "aliases");
  network.source = object.at("source").string();
  if (const auto published = object.find("published_parameters"))
    network.published_parameters = published->integer(1, std::numeric_limits<std::int64_t>::max());
  network.published_source = optional_string(object, "published_source");
  network.note = joined(optional_string(object, "note"), network.note);
  object.finish();
  return network;
}

}  // namespace

Network read_network(const JsonPlace& document, std::string name) {
  if (document.value().find("format") != nullptr) return read_own_format(document);
  Network network = import_hugging_face(document, std::move(name));
  network.source = document.where();
  return network;
}

NetworkHeader read_network_header(const JsonPlace& document) {
  JsonObject object = open_document(document, network_format);
  return {name_from_json(object.at("name")), read_names(object, "aliases")};
}

}  // namespace plumbline
