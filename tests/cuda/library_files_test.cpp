#include "runtime/cuda/library_files.h"

#include <filesystem>

#include "tests/catch.h"
#include "tests/temporary_folder.h"

namespace plumbline {
namespace {

TEST_CASE("A library is looked for by the loader, in the toolkit, and in Python packages") {
  const TemporaryFolder environment;
  for (const char* const version : {"python3.11", "python3.12", "other"})
    std::filesystem::create_directories(environment.path() / "lib" / version);
  const std::string lib = environment.path() / "lib";
  const std::vector<std::string> expected{"libcudnn.so.9", "/cuda/lib64/libcudnn.so.9",
                                          "/usr/packages/nvidia/cudnn/lib/libcudnn.so.9",
                                          lib + "/python3.11/site-packages/nvidia/cudnn/lib/libcudnn.so.9",
                                          lib + "/python3.12/site-packages/nvidia/cudnn/lib/libcudnn.so.9"};
  CHECK(library_files("libcudnn.so.9", "cudnn", {"/cuda/lib64", "/usr/packages", environment.path().string()}) ==
        expected);
  CHECK(library_files("libnccl.so.2", "nccl", {}) == std::vector<std::string>{"libnccl.so.2"});
  CHECK(library_files("libnccl.so.2", "nccl", {"", "", "/nonexistent"}) == std::vector<std::string>{"libnccl.so.2"});
}

}  // namespace
}  // namespace plumbline
