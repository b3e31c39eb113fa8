#include "runtime/nccl/nccl_api.h"

namespace plumbline::nccl {
namespace {

constexpr int oldest_version = 21800;  // as NCCL counts from 2.9 on: 10000 major + 100 minor + patch

template <class Function>
void find(const DynamicLibraries& libraries, void* handle, const char* name, Function*& to) {
  to = function_of<Function>(libraries, handle, name);
  if (to == nullptr) throw EnvironmentError(std::string("NCCL: ") + library_file + " has no " + name);
}

void require_version(const Api& api) {
  int version = 0;
  const Result result = api.get_version(&version);
  if (result != Result::success) throw EnvironmentError(failure_text(api, "ncclGetVersion", result, nullptr));
  if (version >= oldest_version) return;
  throw EnvironmentError("NCCL: " + std::string(library_file) + " is version " + std::to_string(version / 10000) + "." +
                         std::to_string(version / 100 % 100) + ", and 2.18 or later is needed");
}

/// Else: why the system's loader does not find it.
OpenedLibrary first_of(const DynamicLibraries& libraries, const std::vector<std::string>& files) {
  OpenedLibrary found;
  for (const std::string& file : files) {
    OpenedLibrary opened = libraries.open(file);
    if (opened.handle != nullptr) return opened;
    if (found.problem.empty()) found = std::move(opened);
  }
  return found;
}

}  // namespace

Api load_api(const DynamicLibraries& libraries, const std::vector<std::string>& files) {
  const OpenedLibrary opened = first_of(libraries, files);
  if (opened.handle == nullptr) throw EnvironmentError("NCCL cannot be loaded: " + opened.problem);
  Api api;
  const auto take = [&](const char* name, auto& to) { find(libraries, opened.handle, name, to); };
  take("ncclGetVersion", api.get_version);
  take("ncclGetErrorString", api.get_error_string);
  take("ncclGetLastError", api.get_last_error);
  require_version(api);
  take("ncclGetUniqueId", api.get_unique_id);
  take("ncclCommInitRankConfig", api.comm_init_rank_config);
  take("ncclCommGetAsyncError", api.comm_get_async_error);
  take("ncclCommFinalize", api.comm_finalize);
  take("ncclCommDestroy", api.comm_destroy);
  take("ncclCommAbort", api.comm_abort);
  take("ncclGroupStart", api.group_start);
  take("ncclGroupEnd", api.group_end);
  take("ncclAllReduce", api.all_reduce);
  take("ncclReduceScatter", api.reduce_scatter);
  take("ncclAllGather", api.all_gather);
  take("ncclReduce", api.reduce);
  take("ncclBroadcast", api.broadcast);
  take("ncclSend", api.send);
  take("ncclRecv", api.recv);
  return api;
}

std::string failure_text(const Api& api, const std::string& call, Result result, Comm comm) {
  std::string text =
      call + ": " + api.get_error_string(result) + " (result " + std::to_string(static_cast<int>(result)) + ")";
  const char* const last = api.get_last_error(comm);
  if (last != nullptr && *last != 0) text += std::string(": ") + last;
  return text;
}

}  // namespace plumbline::nccl
