#include "cli/failure.h"

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <new>
#include <thread>

#include "core/base/errors.h"
#include "core/base/escape.h"
#include "runtime/mpi/launch_place.h"

namespace plumbline {

Failure failure_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const InputError& input) {
    return {ExitCode::bad_input, input.what()};
  } catch (const EnvironmentError& environment) {
    return {ExitCode::environment, environment.what()};
  } catch (const std::filesystem::filesystem_error& system) {
    return {ExitCode::environment, system.path1().string() + ": " + system.code().message()};
  } catch (const std::bad_alloc&) {
    return {ExitCode::environment, "memory: not enough for this question"};
  } catch (const std::exception& bug) {
    return {ExitCode::bug, std::string("our bug, please report it: ") + bug.what()};
  }
}

void print_failure(const Failure& failure) { std::fprintf(stderr, "plan: %s\n", printable(failure.line).c_str()); }

bool is_first_of_launch() {
  const auto place = launched_with_others(process_environment);
  return !place || place->rank == 0;
}

void print_failure_once(const Failure& failure) {
  constexpr std::chrono::seconds time_to_speak(3);
  if (is_first_of_launch())
    print_failure(failure);
  else
    std::this_thread::sleep_for(time_to_speak);
}

}  // namespace plumbline
