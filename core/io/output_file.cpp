#include "core/io/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <optional>
#include <random>
#include <system_error>

#include "core/base/errors.h"

namespace plumbline {
namespace {

constexpr mode_t mode_of_new_file = 0666;  // less what the umask takes away

[[noreturn]] void fail(const std::filesystem::path& path, int code) {
  const std::string limit = code == EFBIG ? " (a limit of this session, ulimit -f, or of the file system)" : "";
  throw EnvironmentError(path.string() + ": cannot be written: " + std::generic_category().message(code) + limit);
}

[[noreturn]] void refuse(const std::string& where, const std::string& what, const std::string& expected) {
  throw InputError({where, what, expected, ""});
}

/// Closed at the end of its scope.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  [[nodiscard]] int number() const { return number_; }

 private:
  int number_;
};

void write_all(int descriptor, std::string_view text, const std::filesystem::path& path) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(path, errno);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

std::optional<struct stat> status_of(const std::filesystem::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0) return status;
  return std::nullopt;
}

bool is_same_file(const struct stat& one, const struct stat& other) {
  return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

/// The name behind symbolic links, also where the last one leads to no file yet.
std::filesystem::path behind_links(std::filesystem::path path) {
  constexpr int most_links = 40;  // path_resolution(7)
  std::error_code error;
  for (int links = 0; std::filesystem::is_symlink(std::filesystem::symlink_status(path, error)); ++links) {
    if (links == most_links) fail(path, ELOOP);
    const std::filesystem::path target = std::filesystem::read_symlink(path, error);
    if (error) fail(path, error.value());
    path = target.is_absolute() ? target : path.parent_path() / target;
  }
  return path;
}

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

/// A new file alongside the one that it will replace; removed again unless it is given that one's name.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::filesystem::path& target) : target_(target), descriptor_(created()) {}
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }

  void write(std::string_view text) { write_all(descriptor_.number(), text, target_); }
  void take_mode_of(const struct stat& replaced) {
    // Only the administrator may give files away; without that the file is the writer's, who passes on no set-id bit.
    const bool is_given = ::fchown(descriptor_.number(), replaced.st_uid, replaced.st_gid) == 0;
    if (!is_given && errno != EPERM) fail(target_, errno);
    if (::fchmod(descriptor_.number(), replaced.st_mode & (is_given ? 07777U : 0777U)) != 0) fail(target_, errno);
  }
  void replace_target() {
    if (::fsync(descriptor_.number()) != 0 && errno != EINVAL) fail(target_, errno);
    if (::rename(path_.c_str(), target_.c_str()) != 0) fail(target_, errno);
    path_.clear();
    const Descriptor folder(::open(folder_of(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (folder.number() >= 0) ::fsync(folder.number());  // a folder that cannot be read has its name all the same
  }

 private:
  /// Another writer of the same file draws another name; one that is taken is drawn again.
  int created() {
    constexpr std::size_t longest_stem = 200;  // of the 255 bytes that file systems allow
    const std::string name = target_.filename().string();
    const std::string stem = "." + (name.size() <= longest_stem ? name : std::string("plan")) + ".";
    std::random_device random;
    while (true) {
      path_ = folder_of(target_) / (stem + std::to_string(random()) + std::to_string(random()) + ".tmp");
      const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
      const int number = ::open(path_.c_str(), flags, mode_of_new_file);
      if (number >= 0) return number;
      const int code = errno;
      if (code == EEXIST || code == EINTR) continue;
      path_.clear();
      fail(target_, code);
    }
  }

  std::filesystem::path target_;
  std::filesystem::path path_;
  Descriptor descriptor_;
};

/// The descriptor of this process that the file already has: a new one would write over what came before.
std::optional<int> own_output(const struct stat& status) {
  for (const int number : {STDOUT_FILENO, STDERR_FILENO}) {
    struct stat own {};
    if (::fstat(number, &own) == 0 && is_same_file(own, status)) return number;
  }
  return std::nullopt;
}

void write_into(const std::filesystem::path& path, std::string_view text) {
  const Descriptor opened(::open(path.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC));
  if (opened.number() < 0) fail(path, errno);
  write_all(opened.number(), text, path);
}

/// Where a path leads. `target`: behind symbolic links.
struct Place {
  std::filesystem::path target;
  std::optional<struct stat> status;  ///< none: nothing is there yet
  bool is_replaceable = true;         ///< by a rename to `target`
};

/// A file of the disk is replaceable when `target` is its name: the links of /proc lead to open files, whose names may
/// be gone. Between two looks another writer may replace the file, so a name that seems wrong is looked at again.
Place place_of(const std::filesystem::path& path) {
  constexpr int most_looks = 100;
  Place place{behind_links(path), status_of(path)};
  if (!place.status) return place;
  place.is_replaceable = S_ISREG(place.status->st_mode);
  if (!place.is_replaceable || place.target == path) return place;
  for (int look = 0; look < most_looks; ++look) {
    place.status = status_of(path);
    const auto found = status_of(place.target);
    place.is_replaceable = !place.status || (found && is_same_file(*found, *place.status));
    if (place.is_replaceable) break;
  }
  return place;
}

void require_working_folder(const std::filesystem::path& path) {
  std::error_code error;
  if (path.is_relative()) (void)std::filesystem::current_path(error);
  if (error) throw EnvironmentError(path.string() + ": the working directory cannot be found: " + error.message());
}

void require_folder_around(const std::string& where, const std::filesystem::path& target) {
  const std::filesystem::path folder = folder_of(target);
  std::error_code ignored;
  if (!std::filesystem::is_directory(folder, ignored))
    refuse(where, "there is no folder " + folder.string(), "a file in a folder that exists");
}

}  // namespace

void require_writable_file(const std::string& where, const std::string& name) {
  const std::filesystem::path path(name);
  if (name.empty()) refuse(where, "its value is empty", "a file's name");
  require_working_folder(path);
  if (!status_of(path) && errno == ENAMETOOLONG) refuse(where, "the name is too long", "a file's name");
  const Place place = place_of(path);
  if (place.status ? S_ISDIR(place.status->st_mode) : !path.has_filename())
    refuse(where, "\"" + name + "\" is a folder", "a file's name");
  if (place.status && ::access(path.c_str(), W_OK) != 0) fail(path, errno);
  if (!place.is_replaceable) return;
  require_folder_around(where, place.target);
  const TemporaryFile tried(place.target);
}

void require_writable_folder(const std::string& where, const std::string& name) {
  const std::filesystem::path path(name);
  if (name.empty()) refuse(where, "its value is empty", "a folder's name");
  require_working_folder(path);
  std::error_code error;
  if (std::filesystem::exists(path, error) && !std::filesystem::is_directory(path, error))
    refuse(where, "\"" + name + "\" is no folder", "a folder's name");
  std::filesystem::create_directories(path, error);
  if (error) throw EnvironmentError(name + ": cannot be made: " + error.message());
  const TemporaryFile tried(path / "file");
}

void write_output_file(const std::filesystem::path& path, std::string_view text) {
  require_working_folder(path);
  const Place place = place_of(path);
  if (place.status && S_ISDIR(place.status->st_mode)) fail(path, EISDIR);
  const std::optional<int> own = place.status ? own_output(*place.status) : std::nullopt;
  if (own) return write_all(*own, text, path);
  if (!place.is_replaceable) return write_into(path, text);
  TemporaryFile file(place.target);
  file.write(text);
  if (place.status) file.take_mode_of(*place.status);
  file.replace_target();
}

}  // namespace plumbline
