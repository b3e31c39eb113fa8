#include "runtime/cuda/built_folders.h"
#include "runtime/nccl/nccl_api.h"

namespace plumbline::nccl {

const Api& api() {
  static const Api loaded = load_api(system_libraries(), library_files(library_file, "nccl", built_folders()));
  return loaded;
}

}  // namespace plumbline::nccl
