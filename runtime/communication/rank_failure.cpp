#include "runtime/communication/rank_failure.h"

#include "runtime/communication/wire.h"

namespace plumbline {

std::string failure_text(std::int32_t rank, const std::exception_ptr& failure) {
  const std::string name = "rank " + std::to_string(rank) + " failed: ";
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& error) {
    const std::string text = error.what();
    const std::string named = "rank " + std::to_string(rank);
    return text.starts_with(named + " ") || text.starts_with(named + ":") ? text : name + text;
  } catch (...) {
    return name + "an exception of unknown type";
  }
}

void rethrow_of_rank(std::int32_t rank, const std::exception_ptr& failure, const std::string& addition) {
  const std::string text = failure_text(rank, failure) + addition;
  try {
    std::rethrow_exception(failure);
  } catch (const InputError&) {
    throw;
  } catch (const CommunicationError& error) {
    throw CommunicationError(error.what() + addition);
  } catch (const InternalError&) {
    throw InternalError(text);
  } catch (...) {
    throw EnvironmentError(text);
  }
}

}  // namespace plumbline
