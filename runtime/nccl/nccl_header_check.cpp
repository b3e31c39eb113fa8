// Our declarations of NCCL against its own, where a build finds them.
#if __has_include(<nccl.h>)
#include <nccl.h>

#include <cstddef>
#include <type_traits>

#include "runtime/nccl/nccl_api.h"

namespace plumbline::nccl {
namespace {

constexpr int value(auto enumerator) { return static_cast<int>(enumerator); }

static_assert(value(Result::success) == value(ncclSuccess) && value(Result::remote_error) == value(ncclRemoteError) &&
              value(Result::in_progress) == value(ncclInProgress));
static_assert(value(DataType::uint8) == value(ncclUint8) && value(DataType::float16) == value(ncclFloat16) &&
              value(DataType::float32) == value(ncclFloat32) && value(DataType::bfloat16) == value(ncclBfloat16));
static_assert(value(RedOp::sum) == value(ncclSum) && value(RedOp::max) == value(ncclMax));
static_assert(sizeof(UniqueId) == sizeof(ncclUniqueId) && sizeof(Config) <= sizeof(ncclConfig_t));
static_assert(offsetof(Config, size) == offsetof(ncclConfig_t, size) &&
              offsetof(Config, magic) == offsetof(ncclConfig_t, magic) &&
              offsetof(Config, version) == offsetof(ncclConfig_t, version) &&
              offsetof(Config, blocking) == offsetof(ncclConfig_t, blocking) &&
              offsetof(Config, min_ctas) == offsetof(ncclConfig_t, minCTAs) &&
              offsetof(Config, max_ctas) == offsetof(ncclConfig_t, maxCTAs) &&
              offsetof(Config, net_name) == offsetof(ncclConfig_t, netName) &&
              offsetof(Config, split_share) == offsetof(ncclConfig_t, splitShare));
static_assert(NCCL_CONFIG_UNDEF_INT == Config::undefined);

}  // namespace
}  // namespace plumbline::nccl
#endif
