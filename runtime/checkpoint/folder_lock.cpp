#include "runtime/checkpoint/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "core/base/errors.h"

namespace plumbline {

FolderLock::FolderLock(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / ".lock";
  const auto refuse = [&](const char* what) {
    throw EnvironmentError(path.string() + ": " + what + ": " + std::generic_category().message(errno));
  };
  descriptor_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (descriptor_ < 0) refuse("cannot be created");
  int locked = 0;
  do locked = ::flock(descriptor_, LOCK_EX | LOCK_NB);
  while (locked != 0 && errno == EINTR);
  if (locked == 0) return;
  const int code = errno;
  ::close(descriptor_);
  errno = code;
  if (code == EWOULDBLOCK)
    throw EnvironmentError(
        folder.string() +
        ": another run writes its checkpoints here; expected a folder of its own, or the end of that run");
  refuse("cannot be locked");
}

FolderLock::~FolderLock() {
  ::close(descriptor_);  // which releases the lock
}

}  // namespace plumbline
