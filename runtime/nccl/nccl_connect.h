#pragma once
/// \file nccl_connect.h: the first calls of a new communicator, so that no step waits for another rank's host.
///
/// Model: from version 2.22 on NCCL connects ranks at their first call that runs an algorithm, and the host waits there
/// for all of them; kernels are loaded then too. So each kind of collective is called once with one element for each
/// rank and once with so many that NCCL takes the algorithms of large calls, and messages of an exchange are sent once.
/// Source: NCCL user guide 2.28, "NCCL_RUNTIME_CONNECT"; that calls above some 2 MiB run other algorithms: NCCL 2.28.9,
/// tuning.cc. Not modelled: algorithms between these sizes. Checked against: tests/cuda/nccl_training_test.cpp.

#include <string>

#include "runtime/communication/group_maker.h"
#include "runtime/nccl/nccl_groups.h"

namespace plumbline {

struct ConnectedGroup {
  std::string name;
  std::int32_t ranks = 1;
  std::int32_t index = 0;  ///< of this rank
  Messages messages = Messages::any;
};

/// All ranks of the group call it, in the order in which they make their groups. Returns when all are connected.
void connect_ranks(NcclComm& comm, const ConnectedGroup& group, NcclRank& shared, Bytes large);

}  // namespace plumbline
