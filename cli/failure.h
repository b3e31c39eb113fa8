#pragma once
/// \file failure.h: what went wrong, as one line and an exit code.

#include <exception>
#include <string>

#include "cli/verb.h"

namespace plumbline {

struct Failure {
  ExitCode code = ExitCode::bug;
  std::string line;  ///< without "plan: "
};

[[nodiscard]] Failure failure_of(const std::exception_ptr& error);
/// One line on standard error, whatever the message holds.
void print_failure(const Failure& failure);

}  // namespace plumbline
