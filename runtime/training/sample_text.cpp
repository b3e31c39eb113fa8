#include "runtime/training/sample_text.h"

#include "core/io/json.h"
#include "models/embedded.h"

namespace plumbline {
namespace embedded {
std::span<const EmbeddedFile> samples();  // written by plumbline_embed, see runtime/CMakeLists.txt
}  // namespace embedded

std::string sample_text() {
  std::string text;
  for (const embedded::EmbeddedFile& file : embedded::samples()) {
    const Json json = parse_json(file.text, file.name);
    JsonObject object(JsonPlace(json, std::string(file.name) + ":"));
    for (const JsonPlace& line : object.at("lines").elements()) text += line.string() + "\n";
  }
  return text;
}

}  // namespace plumbline
