#include "runtime/checkpoint/durable_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "core/base/errors.h"

namespace plumbline {
namespace {

// Other ranks wait for the one that writes: a large file that is flushed only at its end would keep them too long.
constexpr std::int64_t bytes_between_flushes = std::int64_t{64} << 20;

[[noreturn]] void refuse(const std::filesystem::path& path, const char* what, int code) {
  throw EnvironmentError(path.string() + ": " + what + ": " + std::generic_category().message(code));
}

}  // namespace

DurableFile::DurableFile(const std::filesystem::path& path)
    : path_(path), temporary_(path.string() + ".partial"), descriptor_(created()) {
  if (descriptor_ < 0) fail("cannot be created");
}

/// A writer that was killed leaves its own; nobody else's file or link is opened in its place.
int DurableFile::created() const {
  ::unlink(temporary_.c_str());
  return ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
}

DurableFile::~DurableFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(temporary_.c_str());
}

void DurableFile::write(std::span<const std::byte> data) {
  while (!data.empty()) {
    const std::int64_t until_flush = bytes_between_flushes - bytes_ % bytes_between_flushes;
    const std::int64_t most = std::min(std::ssize(data), until_flush);
    const ssize_t written = ::write(descriptor_, data.data(), static_cast<std::size_t>(most));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail("cannot be written");
    checksum_.add(data.first(static_cast<std::size_t>(written)));
    data = data.subspan(static_cast<std::size_t>(written));
    bytes_ += written;
    if (written == until_flush && ::fdatasync(descriptor_) != 0) fail("cannot be flushed to the disk");
  }
}

WrittenFile DurableFile::commit() {
  if (::fsync(descriptor_) != 0) fail("cannot be flushed to the disk");
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail("cannot be renamed");
  ::close(descriptor_);
  descriptor_ = -1;
  flush_folder(path_.parent_path());
  return {bytes_, checksum_.text()};
}

void DurableFile::fail(const char* what) const { refuse(path_, what, errno); }

WrittenFile write_durable_file(const std::filesystem::path& path, std::string_view text) {
  DurableFile file(path);
  file.write(std::as_bytes(std::span(text)));
  return file.commit();
}

void flush_folder(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder.empty() ? std::filesystem::path(".") : folder;
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) refuse(path, "cannot be opened", errno);
  const int code = ::fsync(descriptor) == 0 ? 0 : errno;
  ::close(descriptor);
  if (code != 0 && code != EINVAL) refuse(path, "cannot be flushed to the disk", code);  // EINVAL: it has no fsync
}

void make_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) refuse(folder, "cannot be made", error.value());
}

void rename_folder(const std::filesystem::path& from, const std::filesystem::path& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) refuse(to, "cannot be given its name", errno);
  flush_folder(to.parent_path());
}

}  // namespace plumbline
