#include "tests/source_folder.h"

namespace plumbline {

std::string source_folder() { return PLUMBLINE_SOURCE_DIR; }

std::string test_data_folder() { return source_folder() + "/tests/data"; }

}  // namespace plumbline
