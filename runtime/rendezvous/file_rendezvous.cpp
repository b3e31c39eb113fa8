#include "runtime/rendezvous/file_rendezvous.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

namespace plumbline {
namespace {

std::string joined_name(std::int32_t rank) { return "joined-" + std::to_string(rank); }
std::string left_name(std::int32_t rank) { return "left-" + std::to_string(rank); }

}  // namespace

FileRendezvous::FileRendezvous(std::filesystem::path folder) : folder_(std::move(folder)) {
  std::error_code failed;
  std::filesystem::create_directories(folder_, failed);
  if (failed) throw EnvironmentError(folder_.string() + ": cannot be made: " + failed.message());
}

void FileRendezvous::publish(const std::string& key, const Value& value) {
  const std::filesystem::path partial = folder_ / (key + "." + std::to_string(::getpid()) + ".partial");
  {
    std::ofstream out(partial, std::ios::binary);
    out.write(reinterpret_cast<const char*>(value.data()), std::ssize(value));
    if (!out.flush()) throw EnvironmentError(partial.string() + ": cannot be written");
  }
  link(partial, key);
}

void FileRendezvous::link(const std::filesystem::path& partial, const std::string& name) const {
  const std::filesystem::path file = folder_ / name;
  std::error_code failed;
  std::filesystem::create_hard_link(partial, file, failed);  // unlike a renaming, it keeps a file that is there
  std::error_code ignored;
  std::filesystem::remove(partial, ignored);
  if (failed)
    throw EnvironmentError(file.string() + ": " + failed.message() +
                           "; a rendezvous needs a folder without files of an earlier run");
}

std::optional<Value> FileRendezvous::find(const std::string& key) {
  std::ifstream in(folder_ / key, std::ios::binary);
  if (!in) return std::nullopt;
  const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  const auto* const bytes = reinterpret_cast<const std::byte*>(text.data());
  return Value(bytes, bytes + text.size());
}

void FileRendezvous::join(std::int32_t rank, std::int32_t ranks) {
  rank_ = rank;
  ranks_ = ranks;
  const std::filesystem::path partial = folder_ / (joined_name(rank) + ".partial");
  own_.hold(::open(partial.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600));
  if (!own_.is_open() || ::flock(own_.get(), LOCK_EX | LOCK_NB) != 0)
    throw EnvironmentError(partial.string() + ": cannot be made and locked: " + std::strerror(errno));
  link(partial, joined_name(rank));  // nobody sees it without its lock
}

void FileRendezvous::leave() { publish(left_name(rank_), {}); }

bool FileRendezvous::is_lost(std::int32_t rank) {
  const Socket file(::open((folder_ / joined_name(rank)).c_str(), O_RDWR | O_CLOEXEC));
  return file.is_open() && ::flock(file.get(), LOCK_SH | LOCK_NB) == 0 && !find(left_name(rank));
}

std::optional<std::int32_t> FileRendezvous::lost() {
  for (std::int32_t rank = 0; rank < ranks_; ++rank)
    if (rank != rank_ && is_lost(rank)) return rank;
  return std::nullopt;
}

}  // namespace plumbline
