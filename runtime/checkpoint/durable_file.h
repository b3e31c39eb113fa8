#pragma once
/// \file durable_file.h: files that are on the disk when a function returns, or not there at all.
///
/// Model: POSIX open (O_EXCL and O_NOFOLLOW, as core/io/output_file.h), write, fsync, rename. Throws EnvironmentError
/// with the path and the system's text. Not modelled: disks that lie about what they have written. Checked against:
/// tests/runtime/checkpoint/checkpoint_test.cpp (a full disk, a process killed at any moment).

#include <cstdint>
#include <filesystem>

#include "runtime/checkpoint/checksum.h"

namespace plumbline {

/// What was written, for whoever reads it later.
struct WrittenFile {
  std::int64_t bytes = 0;
  std::string checksum;
};

/// A new file under a temporary name alongside its own. Unless `commit` is called, it is removed again.
class DurableFile {
 public:
  explicit DurableFile(const std::filesystem::path& path);
  DurableFile(const DurableFile&) = delete;
  DurableFile& operator=(const DurableFile&) = delete;
  ~DurableFile();

  void write(std::span<const std::byte> data);
  /// Flushes to the disk and gives the file its name.
  WrittenFile commit();

 private:
  [[noreturn]] void fail(const char* what) const;
  [[nodiscard]] int created() const;

  std::filesystem::path path_;
  std::filesystem::path temporary_;
  int descriptor_ = -1;
  std::int64_t bytes_ = 0;
  Checksum checksum_;
};

/// A whole text as a file.
WrittenFile write_durable_file(const std::filesystem::path& path, std::string_view text);

/// Makes sure that the names in a folder are on the disk.
void flush_folder(const std::filesystem::path& folder);
/// Unless it is there. Throws EnvironmentError.
void make_folder(const std::filesystem::path& folder);
/// Gives a folder another name and flushes the parent.
void rename_folder(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace plumbline
