#pragma once
/// \file fake_nccl.h: a stand-in for NCCL on the device that runs on the CPU.
///
/// Answers: the functions of runtime/nccl/nccl_api.h. Model: ranks are threads of one process, or processes
/// that share a folder (fake_nccl_files.h); a collective runs once
/// the parts of all ranks are next in their streams, and fails the device where kind, count, type, reduction, root or
/// order do not fit together. A send meets its receive likewise; those of one group do not wait for each other. Sums go
/// round the ranks from the second on and are rounded after each, as a ring's. A communicator is in progress until all
/// ranks have made it, and each call once more. Two ranks on one device are refused. Not modelled: time, algorithms,
/// memory that NCCL takes at first calls. Checked against: tests/cuda/nccl_communicator_test.cpp.

#include <chrono>

#include "runtime/nccl/nccl_api.h"

namespace plumbline::fake_nccl {

/// Forgets failures that were asked for, and counts.
void reset();
/// The call of this name ("ncclAllReduce") that is the `nth` from now fails and does nothing.
void fail_call(const std::string& name, int nth, nccl::Result result);
/// The same call is carried out by nobody; its communicator then has this asynchronous error.
void break_call(const std::string& name, int nth, nccl::Result result);
/// Each rank's communicator takes so many bytes of its device.
void set_communicator_bytes(std::size_t bytes);
/// Communicators of several ranks stay in progress.
void never_complete_init();
/// Messages take so long on their streams.
void slow_messages(std::chrono::milliseconds length);
/// First calls of a kind on a communicator so far: until all its ranks have made theirs each stays in progress, as
/// NCCL's from 2.22 on, whose ranks connect there.
[[nodiscard]] int connections();
/// How often each was called.
[[nodiscard]] int calls_made(const std::string& name);

}  // namespace plumbline::fake_nccl
