#include "core/io/number_text.h"

#include "core/base/errors.h"
#include "core/io/json.h"

namespace plumbline {

double number_from_text(std::string_view where, const std::string& text, double smallest, double largest) {
  const Json json = [&] {
    try {
      return parse_json(text, where);
    } catch (const InputError&) {
      return Json(text);
    }
  }();
  return JsonPlace(json, std::string(where)).number(smallest, largest);
}

}  // namespace plumbline
