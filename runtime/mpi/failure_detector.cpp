#include "runtime/mpi/failure_detector.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <thread>

namespace plumbline {
namespace {

constexpr std::int32_t no_rank = std::numeric_limits<std::int32_t>::max();
constexpr std::chrono::seconds time_to_answer(2);  // for a rank that was told of a failure

}  // namespace

FailureDetector::FailureDetector(PeerChannel& channel, Mailbox& mailbox)
    : channel_(channel),
      mailbox_(mailbox),
      lowest_failed_(no_rank),
      status_(static_cast<std::size_t>(channel.size()), PeerStatus{-1, false}) {}

void FailureDetector::receive_action(std::int32_t from, std::int32_t action) {
  const std::lock_guard lock(mutex_);
  status_[static_cast<std::size_t>(from)].action = action;
}

void FailureDetector::report_failure(const std::string& failure) {
  if (has_reported_) return;
  has_reported_ = true;
  send_failure(failure);
  const auto latest = Clock::now() + time_to_answer;
  while (Clock::now() < latest && !(channel_.has_sent_all() && (!failed_itself_ || all_answered())))
    std::this_thread::sleep_for(idle_sleep);
}

void FailureDetector::send_failure(const std::string& failure) {
  const std::lock_guard lock(news_mutex_);
  failed_itself_ = lowest_failed_ == no_rank;
  const std::string cause = failed_itself_ ? failure : mailbox_.failure().value_or(failure);
  std::vector<std::byte> news = bytes_of(failed_itself_ ? channel_.rank() : lowest_failed_.load());
  const auto text = std::as_bytes(std::span(cause));
  news.insert(news.end(), text.begin(), text.end());
  for (std::int32_t to = 0; to < channel_.size(); ++to)
    if (to != channel_.rank()) channel_.send(to, PeerMessage::failure, news);
}

void FailureDetector::receive_failure(std::int32_t from, std::span<const std::byte> news) {
  const std::lock_guard lock(news_mutex_);
  const std::int32_t failed = leading_number(news);
  lowest_failed_ = std::min(lowest_failed_.load(), failed);
  const auto text = news.subspan(sizeof failed);
  mailbox_.fail({reinterpret_cast<const char*>(text.data()), text.size()});
  if (from == failed) channel_.send(from, PeerMessage::status, bytes_of(action_));
}

void FailureDetector::receive_status(std::int32_t from, std::span<const std::byte> status) {
  const std::lock_guard lock(mutex_);
  status_[static_cast<std::size_t>(from)] = {leading_number(status), true};
}

std::vector<PeerStatus> FailureDetector::peer_status() const {
  const std::lock_guard lock(mutex_);
  std::vector<PeerStatus> all = status_;
  all[static_cast<std::size_t>(channel_.rank())] = {action_, true};
  return all;
}

bool FailureDetector::all_answered() const {
  const std::lock_guard lock(mutex_);
  return std::count_if(status_.begin(), status_.end(), [](const PeerStatus& one) { return one.answers; }) ==
         channel_.size() - 1;
}

}  // namespace plumbline
