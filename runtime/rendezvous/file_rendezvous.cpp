#include "runtime/rendezvous/file_rendezvous.h"

#include <unistd.h>

#include <fstream>
#include <iterator>

namespace plumbline {

FileRendezvous::FileRendezvous(std::filesystem::path folder) : folder_(std::move(folder)) {
  std::error_code failed;
  std::filesystem::create_directories(folder_, failed);
  if (failed) throw EnvironmentError(folder_.string() + ": cannot be made: " + failed.message());
}

void FileRendezvous::publish(const std::string& key, const Value& value) {
  const std::filesystem::path file = folder_ / key;
  const std::filesystem::path partial = folder_ / (key + "." + std::to_string(::getpid()) + ".partial");
  {
    std::ofstream out(partial, std::ios::binary);
    out.write(reinterpret_cast<const char*>(value.data()), std::ssize(value));
    if (!out.flush()) throw EnvironmentError(partial.string() + ": cannot be written");
  }
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

}  // namespace plumbline
