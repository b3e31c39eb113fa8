#pragma once
/// \file message_order.h: whether the messages of a program arrive in the order in which they are sent.
///
/// Answers: a sentence on the first that does not, or nothing. Model: of each pair of pipeline ranks and each direction
/// of the pass; NCCL knows messages by their order alone. Not modelled: messages inside of blocks, whose order is the
/// same on all ranks. Checked against: tests/property/message_order_test.cpp (every schedule).

#include <optional>
#include <string>

#include "core/program/program.h"

namespace plumbline {

[[nodiscard]] std::optional<std::string> first_reordered_message(const Program& program);

}  // namespace plumbline
