#include "core/io/output_file.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <filesystem>

#include <csignal>
#include <fstream>
#include <thread>

#include "core/base/errors.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"

namespace plumbline {
namespace {

namespace fs = std::filesystem;
using Catch::Matchers::ContainsSubstring;

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

mode_t mode_of(const fs::path& path) {
  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  return status.st_mode & 07777U;
}

template <class Error>
std::string refusal_of(const std::string& name) {
  try {
    require_writable_file("--out", name);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("A file is replaced whole, and nothing stays alongside it") {
  const TemporaryFolder folder;
  write_output_file(folder / "plan.json", std::string(100'000, 'a'));
  write_output_file(folder / "plan.json", "new");
  CHECK(content_of(folder / "plan.json") == "new");
  CHECK(names_in(folder.path()) == std::vector<std::string>{"plan.json"});
}

TEST_CASE("Another's temporary file and a planted link are left alone") {
  const TemporaryFolder folder;
  std::ofstream(folder / "plan.json.tmp") << "the user's own";
  std::ofstream(folder / "victim") << "another's";
  fs::create_symlink(folder / "victim", folder / "res.json.tmp");
  write_output_file(folder / "plan.json", "plan");
  write_output_file(folder / "res.json", "result");
  CHECK(content_of(folder / "plan.json.tmp") == "the user's own");
  CHECK(content_of(folder / "victim") == "another's");
  CHECK(fs::is_symlink(folder / "res.json.tmp"));
}

TEST_CASE("A file keeps its mode, a new one takes the umask's") {
  const TemporaryFolder folder;
  const mode_t umask_before = ::umask(027);
  write_output_file(folder / "new", "text");
  ::umask(umask_before);
  CHECK(mode_of(folder / "new") == 0640);
  REQUIRE(::chmod((folder / "new").c_str(), 0604) == 0);
  write_output_file(folder / "new", "text again");
  CHECK(mode_of(folder / "new") == 0604);
}

TEST_CASE("A symbolic link stays, and what it leads to is written, there yet or not") {
  const TemporaryFolder folder;
  fs::create_directory(folder / "runs");
  fs::create_symlink("runs/first.json", folder / "latest");
  fs::create_symlink("latest", folder / "link-to-a-link");
  require_writable_file("--out", folder / "latest");
  write_output_file(folder / "latest", "one");
  CHECK(content_of(folder.path() / "runs" / "first.json") == "one");
  write_output_file(folder / "link-to-a-link", "two");
  CHECK(content_of(folder.path() / "runs" / "first.json") == "two");
  CHECK(fs::is_symlink(folder / "latest"));
  CHECK(fs::is_symlink(folder / "link-to-a-link"));
  fs::create_symlink("round", folder / "round");
  CHECK_THROWS_AS(write_output_file(folder / "round", "text"), EnvironmentError);
}

TEST_CASE("A device and a pipe are written into and stay what they are") {
  const TemporaryFolder folder;
  fs::create_symlink("/dev/null", folder / "nothing");
  require_writable_file("--record", folder / "nothing");
  write_output_file(folder / "nothing", "text");
  CHECK(fs::is_character_file("/dev/null"));
  CHECK(fs::is_symlink(folder / "nothing"));

  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  require_writable_file("--record", folder / "pipe");  // does not wait for a reader
  std::string read;
  std::thread reader([&] { read = content_of(folder / "pipe"); });
  write_output_file(folder / "pipe", std::string(200'000, 'x'));
  reader.join();
  CHECK(read.size() == 200'000);
  CHECK(fs::is_fifo(folder / "pipe"));
}

TEST_CASE("A file that is open without a name is written into") {
  const TemporaryFolder folder;
  const int descriptor = ::open((folder / "gone").c_str(), O_RDWR | O_CREAT, 0600);
  REQUIRE(descriptor >= 0);
  fs::remove(folder / "gone");
  write_output_file("/proc/self/fd/" + std::to_string(descriptor), "text");
  std::array<char, 8> read{};
  CHECK(::pread(descriptor, read.data(), read.size(), 0) == 4);
  ::close(descriptor);
  CHECK(names_in(folder.path()).empty());
}

TEST_CASE("Names that cannot be written are refused before the work, with the reason") {
  const TemporaryFolder folder;
  CHECK(refusal_of<InputError>("") == "--out: its value is empty; expected a file's name");
  CHECK_THAT(refusal_of<InputError>(folder.path()), ContainsSubstring("is a folder"));
  CHECK_THAT(refusal_of<InputError>(folder / "new/"), ContainsSubstring("is a folder"));
  CHECK_THAT(refusal_of<InputError>(folder / "none/plan.json"), ContainsSubstring("there is no folder"));
  CHECK_THAT(refusal_of<InputError>(folder / std::string(300, 'n')), ContainsSubstring("too long"));
  CHECK_THAT(refusal_of<EnvironmentError>("/proc/plan.json"), ContainsSubstring("/proc/plan.json: cannot be written"));
  fs::create_symlink("none/file", folder / "astray");
  CHECK_THAT(refusal_of<InputError>(folder / "astray"), ContainsSubstring("there is no folder"));
  CHECK_NOTHROW(require_writable_file("--out", folder / std::string(250, 'n')));
  CHECK(names_in(folder.path()) == std::vector<std::string>{"astray"});  // trying leaves nothing
  CHECK_THROWS_AS(require_writable_folder("--out", "/proc/calibrations"), EnvironmentError);
  CHECK_THROWS_AS(require_writable_folder("--out", folder / "astray/x"), EnvironmentError);
}

TEST_CASE("A working directory that is gone is said") {
  const fs::path before = fs::current_path();
  {
    const TemporaryFolder folder;
    fs::current_path(folder.path());
  }
  const std::string refused = refusal_of<EnvironmentError>("plan.json");
  CHECK_THROWS_AS(write_output_file("plan.json", "text"), EnvironmentError);
  fs::current_path(before);
  CHECK_THAT(refused, ContainsSubstring("plan.json: the working directory cannot be found: No such file"));
}

TEST_CASE("A disk without room leaves the old file and no temporary one") {
  const TemporaryFolder folder;
  write_output_file(folder / "plan.json", "old");
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const rlimit small{1000, before.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
  std::string said;
  try {
    write_output_file(folder / "plan.json", std::string(5000, 'x'));
  } catch (const EnvironmentError& error) {
    said = error.what();
  }
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);
  std::signal(SIGXFSZ, handler);
  CHECK_THAT(said, ContainsSubstring("plan.json: cannot be written: File too large (a limit of this session"));
  CHECK(content_of(folder / "plan.json") == "old");
  CHECK(names_in(folder.path()) == std::vector<std::string>{"plan.json"});
}

}  // namespace
}  // namespace plumbline
