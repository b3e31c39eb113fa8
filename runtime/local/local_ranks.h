#pragma once
/// \file local_ranks.h: ranks as threads of this process.
///
/// Model: one thread per rank; messages are copied into the receiver's mailbox. A rank that throws, or for which
/// another waits longer than the deadline, ends the calls of all ranks with an error that names rank, group and call.
/// Not modelled: a rank that computes for ever while nobody waits for it.
/// Checked against: tests/runtime/communication/local_communicator_threads_test.cpp, also under the thread sanitizer.

#include <chrono>
#include <functional>

#include "runtime/communication/world.h"

namespace plumbline {

/// Together they bound how long a run outlives a rank that hangs: 30 seconds.
struct LocalOptions {
  std::chrono::milliseconds deadline{25'000};  ///< that a rank waits for another one in a call
  std::chrono::milliseconds grace{5'000};      ///< that ranks have to end after the first failure
};

/// Runs `body` on `ranks` threads and returns when all have ended. Throws the first failure: InputError as it is,
/// InternalError and others with the rank's number, CommunicationError of a call. A rank that has not ended when the
/// grace is over is left to itself: its thread runs on, so what `body` refers to must then live until the process ends.
void run_local_ranks(std::int32_t ranks, const std::function<void(World&)>& body, const LocalOptions& options = {});

}  // namespace plumbline
