#pragma once
/// \file rank_failure.h: an exception of one rank, told to the others and to whoever started the run.
///
/// Checked against: tests/runtime/communication/local_communicator_threads_test.cpp.

#include <cstdint>
#include <exception>
#include <string>

namespace plumbline {

/// "rank 2 failed: disk full"; a text that begins with its rank stays as it is.
[[nodiscard]] std::string failure_text(std::int32_t rank, const std::exception_ptr& failure);

/// Throws the same kind of error with `addition` behind its text, and the rank before it where the text does not name
/// it: InputError as it is, CommunicationError and InternalError as such, others as EnvironmentError.
[[noreturn]] void rethrow_of_rank(std::int32_t rank, const std::exception_ptr& failure,
                                  const std::string& addition = "");

}  // namespace plumbline
