#include "planner/frameworks/torchtitan/model_parts.h"

#include <numeric>

#include "core/base/errors.h"

namespace plumbline::torchtitan {
namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw InputError(
      {"", what,
       "for each chunk a list of layers.N in order, the first behind tok_embeddings, the last before norm and "
       "output",
       ""});
}

/// Reads the chunks in order; each layer must be the next one.
class PartReader {
 public:
  explicit PartReader(std::size_t parts) : parts_(parts) {}

  std::int32_t layers_of(const Json& part, std::size_t index) {
    const Json::Array* const modules = part.if_array();
    if (modules == nullptr) refuse("found " + std::string(part.type_name()));
    std::int32_t layers = 0;
    for (const Json& module : *modules) layers += take(module, index) ? 1 : 0;
    return layers;
  }

 private:
  /// Whether it is a layer.
  bool take(const Json& module, std::size_t index) {
    const std::string* const name = module.if_string();
    if (name == nullptr) refuse("found " + std::string(module.type_name()));
    if (*name == "layers." + std::to_string(next_)) {
      ++next_;
      return true;
    }
    const bool is_input = *name == "tok_embeddings" && index == 0;
    const bool is_output = (*name == "norm" || *name == "output" || *name == "lm_head") && index + 1 == parts_;
    if (!is_input && !is_output) refuse("module " + *name + " in chunk " + std::to_string(index));
    return false;
  }

  std::size_t parts_;
  std::int64_t next_ = 0;
};

}  // namespace

Json module_parts(const std::vector<std::int32_t>& layers, std::string_view output_module) {
  Json::Array parts;
  std::int64_t next = 0;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    Json::Array modules;
    if (i == 0) modules.emplace_back("tok_embeddings");
    for (std::int32_t n = 0; n < layers[i]; ++n) modules.emplace_back("layers." + std::to_string(next++));
    if (i + 1 == layers.size()) {
      modules.emplace_back("norm");
      modules.emplace_back(output_module);
    }
    parts.emplace_back(std::move(modules));
  }
  return parts;
}

std::vector<std::int32_t> layers_of(const Json& parts) {
  const Json::Array* const chunks = parts.if_array();
  if (chunks == nullptr) refuse("found " + std::string(parts.type_name()));
  PartReader reader(chunks->size());
  std::vector<std::int32_t> layers;
  for (std::size_t i = 0; i < chunks->size(); ++i) layers.push_back(reader.layers_of((*chunks)[i], i));
  return layers;
}

std::optional<std::vector<std::int32_t>> own_split(std::int64_t layers, std::int64_t chunks, std::int64_t first_less,
                                                   std::int64_t last_less) {
  const std::int64_t effective = layers + first_less + last_less;
  if (chunks < 2 || chunks > effective || first_less < 0 || last_less < 0) return std::nullopt;
  const std::int64_t each = effective / chunks;
  if (first_less > each || last_less > each) return std::nullopt;
  std::vector<std::int32_t> result;
  for (std::int64_t i = 0; i < chunks; ++i) {
    const std::int64_t less = (i == 0 ? first_less : 0) + (i + 1 == chunks ? last_less : 0);
    result.push_back(static_cast<std::int32_t>(each + (i < effective % chunks ? 1 : 0) - less));
  }
  return result;
}

}  // namespace plumbline::torchtitan
