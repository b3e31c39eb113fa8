// Command lines and shell scripts as trees of flags.

#include "planner/frameworks/syntax/arguments.h"

#include "core/base/errors.h"
#include "tests/catch.h"

namespace plumbline {
namespace {

std::string tree_of(std::string_view text) { return to_json_text(read_arguments(text, "launch.sh"), -1); }

TEST_CASE("flags of a command become a tree") {
  CHECK(tree_of("torchrun --nproc_per_node=8 pretrain_gpt.py --lr 1.5e-4 --bf16 --split 99,1 -x -1 --betas 0.9 .95") ==
        R"x({"--nproc_per_node":8,"--lr":0.00015,"--bf16":true,"--split":"99,1","-x":-1,"--betas":[0.9,0.95]})x"
        "\n");
  CHECK(tree_of("a.py --tp 2 --tp 4 --name 'two words' --on True") == R"x({"--tp":4,"--name":"two words","--on":true})x"
                                                                      "\n");
  CHECK(tree_of("N=${M:-\"1\"}\nrun --n $N --o \"${K:-'2'}\"") == "{\"--n\":1,\"--o\":\"'2'\"}\n");
  CHECK(tree_of("--a 1 \\\r\n --b 2 # --c 3\n") == "{\"--a\":1,\"--b\":2}\n");
}

TEST_CASE("variables of a script are written in") {
  CHECK(tree_of("TP=2\nPP=$((TP * (1 + 2)))\nrun.py --tp $TP --pp ${PP} --cp ${CP:-$TP} --dp \"${DP-7}\"") ==
        "{\"--tp\":2,\"--pp\":6,\"--cp\":2,\"--dp\":7}\n");
  CHECK(tree_of("export N=3; A=(\n  --x $N  # a comment\n  --y \"1 2\"\n)\nA+=(--z)\nrun \"${A[@]}\" ${A[@]}") ==
        "{\"--x\":3,\"--y\":[1,2],\"--z\":true}\n");
  CHECK(tree_of("ARGS=\"\n  --x 1 \\\n  --y 2\n\"\nARGS+=\" --z 3\"\nif [ $K -gt 2 ]; then\n run --q\nelse\n run "
                "$ARGS\nfi") == "{\"--x\":1,\"--y\":2,\"--z\":3}\n");
  CHECK(tree_of("--nodes $NNODES --bf16 $EXTRA --d $(nproc --all) --e `hostname`") ==
        R"x({"--nodes":"$NNODES","--bf16":"$EXTRA","--d":"$(nproc --all)","--e":"`hostname`"})x"
        "\n");
}

/// What `--tp $TP` is behind the text, of which TP=4 is the first line.
std::string tp_behind(const std::string& text) {
  const Json tree = read_arguments("TP=4\n" + text + "\nrun.py --tp $TP\n", "launch.sh");
  const Json& value = *tree.find("--tp");
  return is_unresolved(value) ? "unknown" : to_json_text(value, -1);
}

// Checked with bash 5.2, which tests/integration/shell_against_bash_test.cpp runs.
TEST_CASE("what a command, a subshell, a pipeline or a job in the background assigns does not stay") {
  for (const char* const text : {"TP=16 env", "( TP=16 )", "TP=16 | true", "TP=16 &", "{ TP=16; } | true",
                                 "true | { TP=16; }", "TP=16 PP=2 env", "f() { TP=16; }", "f() { local TP=16; }\nf"}) {
    INFO(text);
    CHECK(tp_behind(text) == "4\n");
  }
  for (const char* const text : {"TP=16", "{ TP=16; }", "export TP=16", "TP=16 2>/dev/null", "f() { TP=16; }\nf",
                                 "function f {\nTP=${1:-2}\n}\nf 16", "eval TP=16", "export \"TP=16\"", "PP=1 TP=16"}) {
    INFO(text);
    CHECK(tp_behind(text) == "16\n");
  }
}

TEST_CASE("what a form assigns that is not read is unknown") {
  for (const char* const text :
       {"let TP=16", "let TP+=1", "read TP <<< 16", "printf -v TP %d 16", "for TP in 16; do :; done", "unset TP",
        "(( TP = 16 ))", "(( TP++ ))", "if a; then TP=16; fi", "case $x in\n4) TP=16 ;;\nesac", "a && TP=16",
        "a ||\n TP=16", "while a; do TP=16; done", "TP[0]=16", "TP=$((010))", ": $((TP = 16))",
        "eval \"TP=$(nproc)\""}) {
    INFO(text);
    CHECK(tp_behind(text) == "unknown");
  }
  CHECK(tp_behind("declare -i TP=4\nTP+=6") == "10\n");  // a sum, not "46"
}

TEST_CASE("a flag to which branches give different values is unknown, others are read") {
  const Json tree = read_arguments(
      "if a; then\n  torchrun p.py --tp 8 --pp 2\nelse\n  torchrun p.py --tp 4 --pp 2\nfi\n", "launch.sh");
  CHECK(is_unresolved(*tree.find("--tp")));
  CHECK(*tree.find("--pp")->if_integer() == 2);
}

TEST_CASE("flags that a branch adds to a list leave the list known") {
  CHECK(tree_of("ARGS=\"--a 1\"\nif x; then\n ARGS=\"$ARGS --b 2\"\nfi\nL=(--c 3)\nif x; then L+=(--d 4); fi\n"
                "run.py $ARGS ${L[@]}") == "{\"--a\":1,\"--b\":2,\"--c\":3,\"--d\":4}\n");
}

// pretrain_gpt3_175B.sh of Megatron-DeepSpeed: to bash '>' would redirect into a file called --fp16.
TEST_CASE("a name in angle brackets is a value that is to be filled in") {
  CHECK(tree_of("run.py --tensorboard-dir <TENSORBOARD DIRECTORY> \\\n --fp16 --data <Specify path>/x\n") ==
        R"({"--tensorboard-dir":"<TENSORBOARD DIRECTORY>","--fp16":true,"--data":"<Specify path>/x"})"
        "\n");
  CHECK(is_unresolved(*read_arguments("run.py --tp <TP>", "x").find("--tp")));
  CHECK(tree_of("run.py --a 1 <in >out --b 2\n") == "{\"--a\":1,\"--b\":2}\n");
}

TEST_CASE("an argument of the script has its default, and a command's output stays one word") {
  CHECK(tree_of("PP=${1:-2}\nTP=${2-4}\nrun --pp $PP --tp $TP --x ${3:-$PP}\n") == R"({"--pp":2,"--tp":4,"--x":2})"
                                                                                   "\n");
  CHECK(tree_of("N=`python -c 'print(8)'`\nARGS=\"--n $N --m 2\"\nrun $ARGS\n") ==
        "{\"--n\":\"`python -c 'print(8)'`\",\"--m\":2}\n");
}

TEST_CASE("the command with the most flags is read, in whichever quotes it is") {
  CHECK(tree_of("mkdir --parents x > log.txt 2>&1\npython -m pip --quiet\n"
                "O=\"--a 1 --b 2 --c 3\"\nsrun -l --output=x sh -c \"python train.py ${O}\"") ==
        "{\"--a\":1,\"--b\":2,\"--c\":3}\n");
  CHECK(tree_of("#!/bin/bash\n#SBATCH --nodes=4 # four\n#SBATCH -N 4\nsrun --x 1") ==
        "{\"--x\":1,\"#SBATCH --nodes\":4,\"#SBATCH -N\":4}\n");
  CHECK(tree_of("cat <<EOF > f\n--not 'this\nEOF\nrun --this 1") == "{\"--this\":1}\n");
  CHECK(tree_of("MODEL_ARGS=\"--a 1\"\nOTHER=( --b 2 )\n") == "{\"--a\":1,\"--b\":2}\n");
}

TEST_CASE("what cannot be read is refused with its line") {
  CHECK_THROWS_WITH(tree_of("run --a\nrun 'x"), "launch.sh, line 2: the quote is not closed; expected a shell script");
  CHECK_THROWS_WITH(tree_of("run \"x"), Catch::Matchers::ContainsSubstring("the quote is not closed"));
  CHECK_THROWS_WITH(tree_of("A=(x"), Catch::Matchers::ContainsSubstring("the list is not closed"));
  CHECK_THROWS_WITH(tree_of("run ${x"), Catch::Matchers::ContainsSubstring("is not closed by '}'"));
  CHECK_THROWS_WITH(tree_of("run $((x"), Catch::Matchers::ContainsSubstring("is not closed by ')'"));
  CHECK_THROWS_WITH(tree_of("run `x"), Catch::Matchers::ContainsSubstring("is not closed"));
  CHECK_THROWS_WITH(tree_of("ls here"), Catch::Matchers::ContainsSubstring("no flag is found in it"));
  CHECK_THROWS_WITH(tree_of(""), Catch::Matchers::ContainsSubstring("no flag is found in it"));
}

// 40 doublings of one word would be 2^40 words.
TEST_CASE("variables that grow without end are refused, as is a text over 1 MiB") {
  std::string doubling = "A=xxxxxxxxxxxxxxxx\n";
  for (int i = 0; i < 40; ++i) doubling += "A=$A$A\n";
  CHECK_THROWS_WITH(tree_of(doubling + "run --a $A"), Catch::Matchers::ContainsSubstring("16 MiB"));
  CHECK_THROWS_WITH(tree_of(std::string((1U << 20) + 1, ' ')), Catch::Matchers::ContainsSubstring("at most 1 MiB"));
}

TEST_CASE("a megabyte of flags, brackets or nested defaults is read in seconds") {
  std::string flags = "run";
  for (int i = 0; flags.size() < 1'000'000; ++i) flags += " --f" + std::to_string(i);
  CHECK(read_arguments(flags, "x").if_object()->size() > 90'000);
  std::string nested = "run --a ";
  for (int i = 0; i < 100'000; ++i) nested += "${x:-";
  nested += std::string(100'000, '}');
  CHECK(read_arguments(nested, "x").find("--a") != nullptr);
  CHECK(tree_of("run --a $((" + std::string(100'000, '(') + "1" + std::string(100'000, ')') + "))").size() > 100'000);
}

TEST_CASE("variables that name themselves end") {
  CHECK(tree_of("A=$A\nB=${B:-$A}\nrun --x $B --y $((A))") == R"x({"--x":"$A","--y":"$((A))"})x"
                                                              "\n");
}

TEST_CASE("arguments are quoted for the shell and read back") {
  const std::string text = "--tp 2\n--layout 'E|t*3,m|L'\n--bf16\n--betas 0.9 0.95\n--word 'it'\\''s'\n";
  const Json tree = read_arguments(text, "x");
  CHECK(arguments_text(tree) == text);
  CHECK(argument_words(tree) == std::vector<std::string>{"--tp", "2", "--layout", "E|t*3,m|L", "--bf16", "--betas",
                                                         "0.9", "0.95", "--word", "it's"});
}

}  // namespace
}  // namespace plumbline
