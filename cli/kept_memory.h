#pragma once
/// \file kept_memory.h: memory that a search has freed stays with the process.
///
/// Model: the programs of finalists are made and freed one after another; where every megabyte goes back to the kernel
/// at once and is asked for anew, that takes a sixth of a search's processor time (llama-3.1-405b on 1 024 GPUs: 1.1 s
/// of system time, 0.16 s where it is kept, for 4 % more memory).
/// Source: mallopt(3) of the GNU C library. Elsewhere this does nothing.

namespace plumbline {

/// For verbs that search. False where the C library does not take the request.
bool keep_freed_memory();

}  // namespace plumbline
