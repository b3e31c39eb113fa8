// One run at a time into a folder, however the one before ended.
#include "runtime/checkpoint/folder_lock.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "core/base/errors.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"

namespace plumbline {
namespace {

TEST_CASE("A folder is locked once, until its holder is gone") {
  const TemporaryFolder folder;
  {
    const FolderLock lock(folder.path());
    CHECK_THROWS_AS(FolderLock(folder.path()), EnvironmentError);
  }
  CHECK_NOTHROW(FolderLock(folder.path()));
}

TEST_CASE("A killed process holds no lock") {
  const TemporaryFolder folder;
  int ready[2] = {};
  REQUIRE(::pipe(ready) == 0);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const FolderLock lock(folder.path());
    (void)!::write(ready[1], "x", 1);
    for (;;) ::pause();
  }
  char byte = 0;
  REQUIRE(::read(ready[0], &byte, 1) == 1);
  CHECK_THROWS_AS(FolderLock(folder.path()), EnvironmentError);
  ::kill(child, SIGKILL);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK_NOTHROW(FolderLock(folder.path()));
  ::close(ready[0]);
  ::close(ready[1]);
}

}  // namespace
}  // namespace plumbline
