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
/// Of what every process of a job fails with before they know each other: the first rank's prints it; others wait for a
/// moment, so that a launcher that ends a job at its first failure does not end it unsaid.
void print_failure_once(const Failure& failure);
/// Whether this process is the first rank of its launch, or on its own.
[[nodiscard]] bool is_first_of_launch();

}  // namespace plumbline
