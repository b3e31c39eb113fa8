#include "runtime/checkpoint/manifest.h"

#include <limits>
#include <set>

#include "core/base/errors.h"
#include "core/io/json_file.h"

namespace plumbline {
namespace {

constexpr const char* format_name = "plumbline.checkpoint/2";
constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
/// Steps and updates of all runs together: a million runs of the longest (runtime/run/recipe.h), and far enough from
/// the end of 64 bits that a run may add its own.
constexpr std::int64_t most_steps_of_runs = 1'000'000'000'000'000;
constexpr double most_scale = 1e300;
constexpr double most_loss = 1e300;
constexpr const char* seal_key = "manifest_xxh64";
constexpr std::string_view no_seal = "0000000000000000";
constexpr std::string_view behind_seal = "\"\n}\n";

/// Where the digits of the text's own checksum begin; npos: it has none.
std::size_t seal_place(std::string_view text) {
  const std::string before = std::string("\"") + seal_key + "\": \"";
  const std::size_t behind = no_seal.size() + behind_seal.size();
  if (text.size() < before.size() + behind || !text.ends_with(behind_seal)) return std::string_view::npos;
  const std::size_t place = text.size() - behind;
  return text.substr(0, place).ends_with(before) ? place : std::string_view::npos;
}

Json json_of(const StoredFile& file) {
  return Json::Object{{"name", file.name}, {"bytes", file.written.bytes}, {"xxh64", file.written.checksum}};
}

/// Inside of the checkpoint's folder: no part is empty, hidden, or leads out.
bool is_inside(const std::string& name) {
  return !name.empty() && name.front() != '.' && name.front() != '/' && name.back() != '/' &&
         name.find("/.") == std::string::npos && name.find("//") == std::string::npos;
}

StoredFile file_at(const JsonPlace& place) {
  JsonObject object(place);
  const JsonPlace name = object.at("name");
  StoredFile file{name.string(), {object.at("bytes").integer(0, most), object.at("xxh64").string()}};
  object.finish();
  if (!is_inside(file.name))
    throw InputError({name.where(), "\"" + file.name + "\" is no file of the checkpoint", "a name inside of it", ""});
  if (!is_checksum(file.written.checksum))
    throw InputError({place.where(), "has no checksum", "16 hexadecimal digits", ""});
  return file;
}

std::vector<StoredFile> files_at(const JsonPlace& place) {
  std::vector<StoredFile> files;
  std::set<std::string> names;
  for (const JsonPlace& element : place.elements()) {
    files.push_back(file_at(element));
    if (!names.insert(files.back().name).second)
      throw InputError({element.where(), files.back().name + " is there twice", "each file once", ""});
  }
  return files;
}

TrainingSettings settings_at(const JsonPlace& place) {
  TrainingSettings settings;
  for (const auto& [name, value] : JsonObject(place).members()) {
    const Json& json = value.value();
    if (json.if_string() == nullptr && json.if_integer() == nullptr && json.if_double() == nullptr)
      throw InputError({value.where(), "is " + std::string(json.type_name()), "a string or a number", ""});
    settings.push_back({name, json});
  }
  return settings;
}

LossScaleState loss_scale_at(const JsonPlace& place) {
  JsonObject object(place);
  LossScaleState state;
  state.scale = object.at("scale").number(0, most_scale);
  state.good_steps = object.at("good_steps").integer(0, most_steps_of_runs);
  state.skipped_steps = object.at("skipped_steps").integer(0, most_steps_of_runs);
  object.finish();
  return state;
}

Json json_of(const LossScaleState& state) {
  return Json::Object{{"scale", state.scale}, {"good_steps", state.good_steps}, {"skipped_steps", state.skipped_steps}};
}

/// A run without evaluations, or of a version that could not end early, has none.
EarlyStoppingState early_stopping_at(const JsonPlace& place) {
  JsonObject object(place);
  EarlyStoppingState state;
  state.lowest = object.at("lowest").number(-most_loss, most_loss);
  state.without_improvement = object.at("without_improvement").integer(0, most_steps_of_runs);
  object.finish();
  return state;
}

Json::Object unsealed(const CheckpointManifest& manifest) {
  Json::Object settings;
  for (const TrainingSetting& setting : manifest.settings) settings.emplace_back(setting.name, setting.value);
  Json::Array files;
  for (const StoredFile& file : manifest.files) files.push_back(json_of(file));
  Json::Object object{{"format", format_name},
                      {"step", manifest.step},
                      {"updates", manifest.updates},
                      {"loss_scale", json_of(manifest.loss_scale)}};
  const EarlyStoppingState& stopping = manifest.early_stopping;
  if (stopping.lowest)
    object.emplace_back("early_stopping", Json::Object{{"lowest", *stopping.lowest},
                                                       {"without_improvement", stopping.without_improvement}});
  object.emplace_back("plan_fingerprint", manifest.plan_fingerprint);
  object.emplace_back("settings", std::move(settings));
  object.emplace_back("data", Json::Object{{"file", manifest.data.file}, {"format", manifest.data.format}});
  object.emplace_back("files", std::move(files));
  return object;
}

}  // namespace

Json to_json(const CheckpointManifest& manifest) {
  Json::Object object = unsealed(manifest);
  object.emplace_back(seal_key, std::string(no_seal));
  return object;
}

CheckpointManifest manifest_from_json(const JsonPlace& root) {
  JsonObject object = open_document(root, format_name);
  CheckpointManifest manifest;
  manifest.step = object.at("step").integer(0, most_steps_of_runs);
  manifest.updates = object.at("updates").integer(0, most_steps_of_runs);
  manifest.loss_scale = loss_scale_at(object.at("loss_scale"));
  if (const auto stopping = object.find("early_stopping")) manifest.early_stopping = early_stopping_at(*stopping);
  manifest.plan_fingerprint = object.at("plan_fingerprint").string();
  manifest.settings = settings_at(object.at("settings"));
  JsonObject data(object.at("data"));
  manifest.data = {data.at("file").string(), data.at("format").string()};
  data.finish();
  manifest.files = files_at(object.at("files"));
  (void)object.at(seal_key).string();
  object.finish();
  return manifest;
}

std::string manifest_text(const CheckpointManifest& manifest) {
  std::string text = to_json_text(to_json(manifest));
  const std::size_t place = seal_place(text);
  check(place != std::string::npos, "a manifest ends with its own checksum");
  return text.replace(place, no_seal.size(), checksum_of(std::string_view(text).substr(0, place)));
}

CheckpointManifest sealed_manifest(std::string_view text, const std::string& source) {
  const std::size_t place = seal_place(text);
  const auto parsed = [&] {
    const Json json = parse_json(text, source);
    return manifest_from_json(JsonPlace(json, source + ":"));
  };
  if (place == std::string_view::npos) (void)parsed();  // one of another version says so
  if (place == std::string_view::npos || checksum_of(text.substr(0, place)) != text.substr(place, no_seal.size()))
    throw InputError({source, "is damaged: its checksum is not that of its text", "the file as it was written",
                      "an earlier checkpoint"});
  return parsed();
}

CheckpointManifest read_manifest(const std::filesystem::path& path) {
  return sealed_manifest(read_text_file(path, "a checkpoint's manifest"), path.string());
}

}  // namespace plumbline
