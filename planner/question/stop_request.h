#pragma once
/// \file stop_request.h: whether long work should end, as those who do it look it up.
///
/// Model: a stop is asked for once and stays asked for. Work looks between units that take a few hundredths of a second
/// at most, answers with what it has, and says that it is not complete.
/// Checked against: tests/property/search_stop_test.cpp (asked for at every look of a search).

#include <functional>
#include <memory>
#include <stop_token>
#include <utility>

namespace plumbline {

class StopRequest {
 public:
  StopRequest() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): a token is the usual request
  StopRequest(std::stop_token token) : token_(std::move(token)) {}
  /// `asked` is called at every look, from any thread.
  explicit StopRequest(std::function<bool()> asked)
      : asked_(std::make_shared<const std::function<bool()>>(std::move(asked))) {}

  [[nodiscard]] bool stop_requested() const { return token_.stop_requested() || (asked_ && (*asked_)()); }

 private:
  std::stop_token token_;
  std::shared_ptr<const std::function<bool()>> asked_;
};

}  // namespace plumbline
