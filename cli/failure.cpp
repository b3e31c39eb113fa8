#include "cli/failure.h"

#include <algorithm>
#include <cstdio>
#include <new>

#include "core/base/errors.h"

namespace plumbline {

Failure failure_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const InputError& input) {
    return {ExitCode::bad_input, input.what()};
  } catch (const EnvironmentError& environment) {
    return {ExitCode::environment, environment.what()};
  } catch (const std::bad_alloc&) {
    return {ExitCode::environment, "memory: not enough for this question"};
  } catch (const std::exception& bug) {
    return {ExitCode::bug, std::string("our bug, please report it: ") + bug.what()};
  }
}

void print_failure(const Failure& failure) {
  std::string line = failure.line;
  std::replace_if(
      line.begin(), line.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  std::fprintf(stderr, "plan: %s\n", line.c_str());
}

}  // namespace plumbline
