#include "core/io/name_json.h"

#include "core/base/errors.h"
#include "core/base/escape.h"

namespace plumbline {

const std::string& name_from_json(const JsonPlace& place) {
  const std::string& name = place.string();
  if (const std::string shown = printable(name); shown != name)
    throw InputError({place.where(), "the name \"" + shown.substr(0, 60) + "\" holds control characters",
                      "a name without line breaks and other control characters", ""});
  return name;
}

}  // namespace plumbline
