#include "runtime/mpi/wait_graph.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <set>
#include <thread>

namespace plumbline {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int32_t nobody = std::numeric_limits<std::int32_t>::max();
constexpr std::int32_t has_finished = nobody - 1;
constexpr std::chrono::seconds time_to_hear(1);

std::string wait_text(std::int32_t rank, std::optional<std::int32_t> awaited) {
  if (!awaited) return rank_name(rank) + " does not answer";
  if (*awaited == has_finished) return rank_name(rank) + " is at its end";
  return rank_name(rank) + " waits for " + (*awaited == nobody ? "nobody" : rank_name(*awaited));
}

}  // namespace

WaitGraph::WaitGraph(PeerChannel& channel)
    : channel_(channel), awaited_(nobody), answers_(static_cast<std::size_t>(channel.size())) {}

void WaitGraph::stop_waiting() { awaited_ = nobody; }

void WaitGraph::finish() { awaited_ = has_finished; }

std::string WaitGraph::chain_from(std::int32_t awaited) {
  std::string text;
  std::set<std::int32_t> seen{channel_.rank()};
  for (std::int32_t rank = awaited; seen.insert(rank).second;) {
    const std::optional<std::int32_t> next = ask({rank}).front();
    text += (text.empty() ? "" : ", ") + wait_text(rank, next);
    if (!next || *next >= has_finished) break;
    rank = *next;
  }
  return text;
}

std::string WaitGraph::unfinished_ranks() {
  constexpr std::size_t most = 8;  // a message is one line
  std::vector<std::int32_t> others;
  for (std::int32_t rank = 0; rank < channel_.size(); ++rank)
    if (rank != channel_.rank()) others.push_back(rank);
  const std::vector<std::optional<std::int32_t>> awaited = ask(others);
  std::string text;
  std::size_t named = 0;
  for (std::size_t i = 0; i < others.size() && named < most; ++i)
    if (awaited[i] != has_finished) text += (named++ == 0 ? "; " : ", ") + wait_text(others[i], awaited[i]);
  return text;
}

std::vector<std::optional<std::int32_t>> WaitGraph::ask(const std::vector<std::int32_t>& ranks) {
  {
    const std::lock_guard lock(mutex_);
    for (const std::int32_t rank : ranks) answers_[static_cast<std::size_t>(rank)].reset();
  }
  for (const std::int32_t rank : ranks) channel_.send(rank, PeerMessage::wait_question, {});
  std::vector<std::optional<std::int32_t>> answers(ranks.size());
  const auto latest = Clock::now() + time_to_hear;
  const auto is_open = [](const std::optional<std::int32_t>& answer) { return !answer; };
  while (std::any_of(answers.begin(), answers.end(), is_open) && Clock::now() < latest) {
    std::this_thread::sleep_for(idle_sleep);
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < ranks.size(); ++i) answers[i] = answers_[static_cast<std::size_t>(ranks[i])];
  }
  return answers;
}

void WaitGraph::receive_question(std::int32_t from) {
  channel_.send(from, PeerMessage::wait_answer, bytes_of(awaited_));
}

void WaitGraph::receive_answer(std::int32_t from, std::span<const std::byte> answer) {
  const std::lock_guard lock(mutex_);
  answers_[static_cast<std::size_t>(from)] = leading_number(answer);
}

}  // namespace plumbline
