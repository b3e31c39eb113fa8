// Random scripts read here and by bash itself: a value that is read is the one that bash hands to the program, or none.

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "planner/frameworks/syntax/arguments.h"
#include "tests/catch.h"
#include "tests/random_strategies.h"
#include "tests/temporary_folder.h"

namespace plumbline::shell_against_bash_test {
namespace {

const std::array<std::string, 3> names{"TP", "PP", "CP"};

std::string number(Dice& dice) { return std::to_string(dice.between(2, 99)); }
std::string name(Dice& dice) { return names[static_cast<std::size_t>(dice.between(0, 2))]; }

std::string value(Dice& dice) {
  switch (dice.between(0, 7)) {
    case 0: return "$" + name(dice);
    case 1: return "${" + name(dice) + "}";
    case 2: return "${" + name(dice) + ":-" + number(dice) + "}";
    case 3: return "$((" + name(dice) + " + " + number(dice) + "))";
    case 4: return "\"" + number(dice) + "\"";
    case 5: return "$((0" + std::to_string(dice.between(10, 17)) + "))";
    default: return number(dice);
  }
}

std::string assignment(Dice& dice) { return name(dice) + "=" + value(dice); }

/// One line, or a few: what scripts do with variables, read or not.
std::string statement(Dice& dice, int depth);

std::string simple(Dice& dice) {
  const std::string n = name(dice);
  const std::string v = number(dice);
  switch (dice.between(0, 31)) {
    case 0: return assignment(dice) + " true";
    case 1: return "( " + assignment(dice) + " )";
    case 2: return assignment(dice) + " | true";
    case 3: return assignment(dice) + " &";
    case 4: return "let " + n + "=" + v;
    case 5: return "let " + n + "+=1";
    case 6: return "eval " + n + "=" + v;
    case 7: return "eval \"" + n + "=" + v + "\"";
    case 8: return "read " + n + " <<< " + v;
    case 9: return "printf -v " + n + " %d " + v;
    case 10: return "unset " + n;
    case 11: return "for " + n + " in " + v + " 4; do :; done";
    case 12: return n + "+=1";
    case 13: return "declare -i " + n + "=" + v + "\n" + n + "+=1";
    case 14: return "(( " + n + " = " + v + " ))";
    case 15: return "(( " + n + "++ )) || true";
    case 16: return "echo x | read " + n;
    case 17: return "true && " + assignment(dice);
    case 18: return "false || " + assignment(dice);
    case 19: return "false && " + assignment(dice);
    case 20: return "{ " + assignment(dice) + "; }";
    case 21: return "{ " + assignment(dice) + "; } | true";
    case 22: return "true | { " + assignment(dice) + "; }";
    case 23: return ": ${" + n + ":=" + v + "}";
    case 24: return ": $((" + n + " = " + v + "))";
    case 25: return n + "[0]=" + v;
    case 26: return "export \"" + n + "=" + v + "\"";
    case 27: return assignment(dice) + " 2>/dev/null";
    case 28: return "true ||\n  " + assignment(dice);
    case 29: return assignment(dice) + " " + assignment(dice);
    case 30: return "export " + assignment(dice) + " " + assignment(dice);
    default: return assignment(dice);
  }
}

std::string statement(Dice& dice, int depth) {
  if (depth > 1) return simple(dice);
  const auto inner = [&] { return statement(dice, depth + 1); };
  switch (dice.between(0, 11)) {
    case 0: return "if true; then\n" + inner() + "\nelse\n" + inner() + "\nfi";
    case 1: return "if false; then " + inner() + "\nfi";
    case 2: return "case $" + name(dice) + " in\n4) " + inner() + " ;;\n*) " + inner() + " ;;\nesac";
    case 3: return "f() { " + inner() + "\n}";
    case 4: return "f() {\n  local " + assignment(dice) + "\n" + inner() + "\n}\nf " + number(dice);
    case 5: return "function g {\n" + name(dice) + "=${1:-" + number(dice) + "}\n}\ng " + number(dice);
    case 6: return "while false; do " + inner() + "\ndone";
    case 7: return "h() ( " + inner() + "\n)\nh";
    default: return simple(dice);
  }
}

std::string script(Dice& dice) {
  std::string text = "TP=4\nPP=8\nCP=2\n";
  for (std::int64_t i = dice.between(1, 6); i > 0; --i) text += statement(dice, 0) + "\n";
  return text + "torchrun train.py --tp \"$TP\" --pp \"$PP\" --cp \"$CP\" --end\n";
}

/// A folder in which torchrun is what writes its words to a file, and nothing else is found.
class Sandbox {
 public:
  Sandbox() {
    std::ofstream(folder_ / "torchrun") << "#!/bin/bash\nprintf '%s\\n' \"$@\" > words\n";
    std::filesystem::permissions(folder_ / "torchrun", std::filesystem::perms::owner_all);
  }
  /// The value of each flag that bash hands on; empty: the script failed.
  std::map<std::string, std::string> run(const std::string& text) {
    std::filesystem::remove(folder_ / "words");
    std::ofstream(folder_ / "script.sh") << text;
    const std::string path = folder_.path().string();
    const std::string command =
        "cd '" + path + "' && timeout 5 env -i PATH='" + path + "' /bin/bash script.sh > /dev/null 2>&1 < /dev/null";
    std::map<std::string, std::string> values;
    if (std::system(command.c_str()) != 0) return values;
    std::ifstream words(folder_ / "words");
    std::string flag;
    for (std::string line; std::getline(words, line);) {
      if (line.starts_with("--"))
        flag = line, values[flag] = "";
      else if (!flag.empty())
        values[flag] = line;
    }
    return values;
  }

 private:
  TemporaryFolder folder_;
};

std::string text_of(const Json& value) {
  if (const std::string* const text = value.if_string()) return *text;
  std::string text = to_json_text(value, -1);
  text.pop_back();
  return text;
}

TEST_CASE("no value of a random script is read as another one than bash hands on") {
  Sandbox sandbox;
  Dice dice(20261127);
  int compared = 0;
  int known = 0;
  for (int i = 0; i < 600; ++i) {
    const std::string text = script(dice);
    const std::map<std::string, std::string> bash = sandbox.run(text);
    if (bash.empty()) continue;
    const Json tree = read_arguments(text, "script.sh");
    for (const char* const flag : {"--tp", "--pp", "--cp"}) {
      const Json* const own = tree.find(flag);
      REQUIRE(own != nullptr);
      ++compared;
      if (is_unresolved(*own)) continue;
      ++known;
      const auto handed = bash.find(flag);
      INFO(text << "\n" << flag);
      REQUIRE(handed != bash.end());
      CHECK(text_of(*own) == handed->second);
    }
  }
  CHECK(compared > 1000);
  CHECK(known * 10 > compared * 4);  // most of what plain assignments say is read
}

}  // namespace
}  // namespace plumbline::shell_against_bash_test
