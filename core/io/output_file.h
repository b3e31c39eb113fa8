#pragma once
/// \file output_file.h: the one way in which a result becomes a file.
///
/// Model: a regular file, or a name that is not there yet, is written under a unique temporary name in its folder
/// (O_CREAT | O_EXCL | O_NOFOLLOW: nobody else's file or link is opened), flushed to the disk and renamed: readers see
/// the old text or the new one, and of several writers the last one's text is whole. A symbolic link stays, and the
/// file that it leads to is replaced; an existing file keeps its mode and, where the system permits, its owner.
/// Devices, pipes and this process's own standard output are written into and never replaced. Source: open(2),
/// rename(2), fsync(2). Not modelled: access control lists; other hard links of a file, which keep the old text; a
/// writer that is killed leaves its temporary file (.NAME.*.tmp). Checked against:
/// tests/unit/core/io/output_file_test.cpp, tests/integration/output_files_test.py.

#include <filesystem>
#include <string>
#include <string_view>

namespace plumbline {

/// Asked before long work whose result is to go to the file `name`. Throws under the name `where` InputError for an
/// empty name, a folder and a name in no folder, EnvironmentError for what the system refuses (it is tried).
void require_writable_file(const std::string& where, const std::string& name);
/// The same of a folder that is to hold several files; makes it.
void require_writable_folder(const std::string& where, const std::string& name);
/// Throws EnvironmentError with the path and the system's words; nothing is left behind then.
void write_output_file(const std::filesystem::path& path, std::string_view text);

}  // namespace plumbline
