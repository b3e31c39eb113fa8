#include <filesystem>

#include "models/name_or_path.h"

#include "core/io/output_file.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"

namespace plumbline {
namespace {

/// Stands in a folder of its own.
class InFolder {
 public:
  InFolder() : before_(std::filesystem::current_path()) { std::filesystem::current_path(folder_.path()); }
  ~InFolder() { std::filesystem::current_path(before_); }
  InFolder(const InFolder&) = delete;
  InFolder& operator=(const InFolder&) = delete;

 private:
  std::filesystem::path before_;
  TemporaryFolder folder_;
};

const CatalogueMatch gpt2{"gpt2", true};
const CatalogueMatch alike{"gpt2", false};

TEST_CASE("what only a path looks like is one, whatever its last part") {
  for (const char* text : {"./gpt2", "../gpt2", "/data/gpt2", "a/b/gpt2", "gpt2/", "gpt2.json", "~/gpt2"}) {
    CAPTURE(text);
    CHECK(name_or_path(text, gpt2, "config.json").is_path);
    CHECK(name_or_path(text, {}, "config.json").is_path);
    CHECK(name_or_path(text, gpt2, "config.json").warning.empty());
  }
}

TEST_CASE("a bare name is the catalogue's, and a file of that name is said") {
  const InFolder here;
  CHECK(name_or_path("gpt2", gpt2, "").warning.empty());
  write_output_file("gpt2", "{}");
  const NameOrPath both = name_or_path("gpt2", gpt2, "");
  CHECK_FALSE(both.is_path);
  CHECK(both.warning == "gpt2 is the catalogue's; the file of that name is read as ./gpt2");
  CHECK(name_or_path("gpt2", {}, "").is_path);
}

TEST_CASE("a folder counts where it holds what is read") {
  const InFolder here;
  std::filesystem::create_directory("gpt2");
  CHECK(name_or_path("gpt2", gpt2, "config.json").warning.empty());
  write_output_file("gpt2/config.json", "{}");
  CHECK(name_or_path("gpt2", gpt2, "config.json").warning ==
        "gpt2 is the catalogue's; the folder of that name is read as ./gpt2");
}

TEST_CASE("a folder and a name are a path where they exist, else a name of a hub") {
  const InFolder here;
  CHECK_FALSE(name_or_path("openai/gpt2", gpt2, "").is_path);
  CHECK(name_or_path("openai/gpt2", gpt2, "").warning.empty());
  CHECK(name_or_path("my/gpt2", alike, "").warning ==
        "there is no file my/gpt2: it is taken for gpt2 of the catalogue");
  std::filesystem::create_directory("my");
  CHECK(name_or_path("my/gpt2", alike, "").is_path);  // a slip of the pen in a folder of one's own is no name
  write_output_file("my/gpt2", "{}");
  const NameOrPath found = name_or_path("my/gpt2", alike, "");
  CHECK(found.is_path);
  CHECK(found.warning == "my/gpt2 is read from here; the catalogue's is called gpt2");
}

}  // namespace
}  // namespace plumbline
