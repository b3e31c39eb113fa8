// What bash makes of the scripts that start a training: words arrive at the program as they were given.

#include <unistd.h>
#include <filesystem>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "planner/frameworks/launch/launchers.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"

namespace plumbline {
namespace {

std::string output_of(const std::string& command) {
  std::FILE* const pipe = ::popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string text;
  std::array<char, 4096> part{};
  for (std::size_t n = 0; (n = std::fread(part.data(), 1, part.size(), pipe)) > 0;) text.append(part.data(), n);
  CHECK(::pclose(pipe) == 0);
  return text;
}

void write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path) << text;
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
}

/// The files of a launch on `devices` GPUs, with programs beside them that stand for torchrun and Slurm's.
void write_launch(const TemporaryFolder& folder, const std::vector<std::string>& arguments, std::int64_t devices) {
  LaunchSettings settings;
  settings.devices = devices;
  for (const LaunchFile& file : launcher_files({"train.py", arguments, "test"}, settings))
    write(folder / file.name, file.text);
  write(folder / "torchrun", "#!/bin/sh\nfor word; do printf '%s\\0' \"$word\"; done\n");
  write(folder / "srun", "#!/bin/sh\nexec \"$@\"\n");
  write(folder / "scontrol", "#!/bin/sh\necho node7\necho node8\n");
}

std::string run_in(const TemporaryFolder& folder, const std::string& command) {
  const std::string path = folder.path().string();
  return output_of("cd '" + path + "' && env PATH='" + path + "':\"$PATH\" " + command);
}

/// Words as the program that stands for torchrun prints them.
std::string printed(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += word + '\0';
  return text;
}

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

const std::vector<std::string>& odd_words() {
  static const std::vector<std::string> words{"--layout", "E|(t|)*3,m|L",
                                              "--name",   "it's \"quoted\" $HOME `date`",
                                              "--empty",  "",
                                              "--shift",  "-1",
                                              "--lines",  "two\nlines \\",
                                              "--glob",   "* ~ # !x"};
  return words;
}

TEST_CASE("bash accepts the scripts") {
  for (const std::int64_t devices : {1, 8, 64}) {
    const TemporaryFolder folder;
    write_launch(folder, odd_words(), devices);
    CHECK(run_in(folder, "bash -n launch.sh").empty());
    CHECK(run_in(folder, "bash -n job.slurm").empty());
  }
}

TEST_CASE("every word of the program arrives as it was given") {
  const TemporaryFolder folder;
  std::vector<std::string> started{"train.py"};
  started.insert(started.end(), odd_words().begin(), odd_words().end());
  write_launch(folder, odd_words(), 4);
  std::vector<std::string> words{"--standalone", "--nnodes=1", "--nproc-per-node=4"};
  words.insert(words.end(), started.begin(), started.end());
  CHECK(run_in(folder, "./launch.sh") == printed(words));
  CHECK(ends_with(run_in(folder, "SLURM_JOB_NODELIST=x SLURM_JOB_ID=5 ./job.slurm"), printed(started)));
}

TEST_CASE("on several nodes torchrun learns where it is") {
  const TemporaryFolder folder;
  write_launch(folder, {"--bf16"}, 16);
  CHECK(run_in(folder, "NODE_RANK=1 MASTER_ADDR=node7 ./launch.sh") ==
        printed({"--nnodes=2", "--nproc-per-node=8", "--node-rank=1", "--master-addr=node7", "--master-port=29500",
                 "train.py", "--bf16"}));
  CHECK(run_in(folder, "SLURM_JOB_NODELIST=x SLURM_JOB_ID=5 ./job.slurm") ==
        printed({"--nnodes=2", "--nproc-per-node=8", "--rdzv-id=5", "--rdzv-backend=c10d",
                 "--rdzv-endpoint=node7:29500", "train.py", "--bf16"}));
  CHECK(run_in(folder, "MASTER_ADDR=x ./launch.sh 2>&1 || true").find("NODE_RANK: is the number of this node") !=
        std::string::npos);
}

}  // namespace
}  // namespace plumbline
