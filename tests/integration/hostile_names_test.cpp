// A model's name is text in every file of every target, whatever it holds: no code, no further key and no further line.

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "planner/frameworks/launch/launch_target.h"
#include "planner/frameworks/syntax/toml.h"
#include "planner/frameworks/syntax/yaml.h"
#include "tests/catch.h"
#include "tests/launch_round_trip.h"
#include "tests/temporary_folder.h"

namespace plumbline::hostile_names_test {
namespace {

/// What a network file may call itself once the readers of names are passed by.
const std::vector<std::string>& hostile_names() {
  static const std::vector<std::string> names{"x\nimport os\nos.system('touch owned')\n#",
                                              "=__import__('os').system('touch owned')",
                                              "x\"; raise SystemExit #",
                                              "x'); raise SystemExit #",
                                              "'''\"\"\"\\",
                                              "$strategy$trainer$model$optimizer$clip",
                                              "$(touch owned)`touch owned`",
                                              "x\n#SBATCH --wrap=evil",
                                              "a: {b: [c",
                                              "\r\n[parallelism]\ntensor_parallel_degree = 64",
                                              "x\xE2\x80\xA8y"};
  return names;
}

LaunchSettings settings_of_model(const std::string& name, Framework framework) {
  Strategy s;
  s.data_parallel = 4;
  s.zero_stage = framework == Framework::megatron_lm || framework == Framework::megatron_bridge ? 1 : 2;
  s.shard_group = 4;
  Training training;
  training.sequence_length = 4096;
  training.global_batch = 4;
  if (framework == Framework::megatron_lm)
    training.gradient_format = NumberFormat::fp32;  // releases that know no other
  LaunchSettings settings = settings_of(s, training);
  settings.model = name;
  return settings;
}

/// Exit status 0 where both parse to the same program but for what its strings say, and where neither calls a shell.
constexpr const char* comparison = R"(import ast, sys
def shape(path):
    tree = ast.parse(open(path, encoding="utf-8").read())
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            node.value = ""
    return ast.dump(tree)
sys.exit(0 if shape(sys.argv[1]) == shape(sys.argv[2]) else 1)
)";

void write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

int status_of(const std::string& command) { return std::system((command + " 2>/dev/null").c_str()); }

void compare(const TemporaryFolder& folder, const LaunchFile& plain, const LaunchFile& hostile) {
  REQUIRE(plain.name == hostile.name);
  write(folder / "plain", plain.text);
  write(folder / "hostile", hostile.text);
  const std::string files = "'" + (folder / "plain").string() + "' '" + (folder / "hostile").string() + "'";
  const auto lines = [](const std::string& text) { return std::count(text.begin(), text.end(), '\n'); };
  if (plain.name.ends_with(".py")) {
    CHECK(status_of("python3 '" + (folder / "compare.py").string() + "' " + files) == 0);
    CHECK(lines(plain.text) == lines(hostile.text));
  } else if (plain.name.ends_with(".sh") || plain.name.ends_with(".slurm")) {
    CHECK(status_of("bash -n '" + (folder / "hostile").string() + "'") == 0);
  } else if (plain.name.ends_with(".yaml")) {
    CHECK_NOTHROW(read_yaml(hostile.text, hostile.name));
    CHECK(lines(plain.text) == lines(hostile.text));
  } else if (plain.name.ends_with(".toml")) {
    CHECK_NOTHROW(read_toml(hostile.text, hostile.name));
    CHECK(lines(plain.text) == lines(hostile.text));
  } else if (plain.name.ends_with(".json")) {
    CHECK_NOTHROW(parse_json(hostile.text, hostile.name));
  }
}

TEST_CASE("a hostile name changes no file of any target but the texts in it") {
  const TemporaryFolder folder;
  write(folder / "compare.py", comparison);
  for (const LaunchTarget& target : launch_targets())
    for (const std::string_view release : target.releases) {
      const LaunchFiles plain = target.write(settings_of_model("own-model", target.framework), release);
      for (const std::string& name : hostile_names()) {
        INFO(target.title << " " << release << ": " << name);
        const LaunchFiles hostile = target.write(settings_of_model(name, target.framework), release);
        REQUIRE(hostile.files.size() == plain.files.size());
        for (std::size_t i = 0; i < plain.files.size(); ++i) compare(folder, plain.files[i], hostile.files[i]);
      }
    }
}

/// Programs of these names stand for torchrun and accelerate: each prints its words. Only they are found.
TEST_CASE("bash hands a hostile name on as one word and runs nothing that is in it") {
  const TemporaryFolder folder;
  for (const char* const program : {"torchrun", "accelerate"}) {
    write(folder / program, "#!/bin/sh\nexit 0\n");
    std::filesystem::permissions(folder / program, std::filesystem::perms::owner_all);
  }
  write(folder / "touch", "#!/bin/sh\n: > \"$1\"\n");
  std::filesystem::permissions(folder / "touch", std::filesystem::perms::owner_all);
  for (const LaunchTarget& target : launch_targets())
    for (const std::string& name : hostile_names()) {
      const LaunchFiles files = target.write(settings_of_model(name, target.framework), target.releases.back());
      write(folder / "launch.sh", file_called(files, "launch.sh").text);
      const std::string path = folder.path().string();
      INFO(target.title << ": " << name);
      CHECK(status_of("cd '" + path + "' && env -i PATH='" + path + "' /bin/bash launch.sh") == 0);
      CHECK(!std::filesystem::exists(folder / "owned"));
    }
}

}  // namespace
}  // namespace plumbline::hostile_names_test
