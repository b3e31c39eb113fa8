#pragma once
/// \file peer_status.h: what is known of a rank when another one has failed.
///
/// Checked against: tests/runtime/mpi/failure_detector_test.cpp.

#include <cstdint>

namespace plumbline {

struct PeerStatus {
  std::int32_t action = -1;  ///< of the program, that it last reported; -1: none
  bool answers = true;       ///< of a rank that does not, `action` came with the last message before
  bool operator==(const PeerStatus&) const = default;
};

}  // namespace plumbline
