#include "core/base/version.h"

namespace plumbline {

std::string_view program_version() { return PLUMBLINE_VERSION; }

}  // namespace plumbline
