#pragma once
/// \file folder_lock.h: one run at a time into a folder of checkpoints.
///
/// Model: an exclusive flock(2) on FOLDER/.lock. The system releases it when the process ends, however it ends; the
/// file stays and says nothing. Not modelled: file systems that ignore locks. Checked against:
/// tests/runtime/checkpoint/folder_lock_test.cpp, tests/integration/resume_test.py (two runs at once).

#include <filesystem>

namespace plumbline {

class FolderLock {
 public:
  /// Throws EnvironmentError when another run holds the folder, or when it cannot be locked.
  explicit FolderLock(const std::filesystem::path& folder);
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  ~FolderLock();

 private:
  int descriptor_ = -1;
};

}  // namespace plumbline
