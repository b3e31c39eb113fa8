#include "capi/error.h"

#include <exception>
#include <filesystem>
#include <memory>
#include <new>

namespace plumbline::capi {
namespace {

plumbline_error current_error() {
  try {
    throw;
  } catch (const InputError& input) {
    return {PLUMBLINE_INPUT_ERROR, input.what(), input.problem()};
  } catch (const EnvironmentError& environment) {
    return {PLUMBLINE_ENVIRONMENT_ERROR, environment.what()};
  } catch (const std::filesystem::filesystem_error& system) {
    return {PLUMBLINE_ENVIRONMENT_ERROR, system.path1().string() + ": " + system.code().message()};
  } catch (const std::bad_alloc&) {
    return {PLUMBLINE_ENVIRONMENT_ERROR, "memory: not enough for this question"};
  } catch (const std::exception& bug) {
    return {PLUMBLINE_INTERNAL_ERROR, std::string("our bug, please report it: ") + bug.what()};
  }
}

}  // namespace

int report_current(plumbline_error** error) noexcept {
  try {
    auto found = std::make_unique<plumbline_error>(current_error());
    const int code = found->code;
    if (error != nullptr) *error = found.release();
    return code;
  } catch (...) {
    return PLUMBLINE_ENVIRONMENT_ERROR;  // no memory for a message either
  }
}

}  // namespace plumbline::capi
