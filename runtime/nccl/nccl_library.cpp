#include "runtime/nccl/nccl_api.h"

namespace plumbline::nccl {

const Api& api() {
  static const Api loaded = load_api(system_libraries());
  return loaded;
}

}  // namespace plumbline::nccl
