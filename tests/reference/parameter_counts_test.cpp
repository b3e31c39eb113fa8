#include <iostream>

#include "core/graph/parameter_count.h"
#include "core/io/json.h"
#include "core/io/json_file.h"
#include "models/import/hugging_face.h"
#include "models/network_catalog.h"
#include "tests/catch.h"
#include "tests/source_folder.h"

namespace plumbline {
namespace {

struct Published {
  const char* network;
  std::int64_t parameters;
};

/// Counts that the checkpoints' owners publish (model cards, safetensors totals, papers), head counted once where tied.
constexpr Published published_counts[] = {
    {"llama-2-7b", 6'738'415'616},
    {"llama-3-8b", 8'030'261'248},
    {"llama-3-70b", 70'553'706'496},
    {"llama-3.1-405b", 405'853'388'800},
    {"llama-3.2-1b", 1'235'814'400},
    {"mistral-7b", 7'241'732'096},
    {"mixtral-8x7b", 46'702'792'704},
    {"mixtral-8x22b", 140'620'634'112},
    {"qwen2-7b", 7'615'616'512},
    {"qwen2.5-0.5b", 494'032'768},
    {"qwen3-8b", 8'190'735'360},
    {"qwen3-0.6b", 596'049'920},
    {"qwen3-30b-a3b", 30'532'122'624},
    {"qwen1.5-moe-a2.7b", 14'315'784'192},
    {"qwen3-next-80b-a3b", 79'674'391'296},  // safetensors total of Qwen/Qwen3-Coder-Next: the same without mtp.*
    {"deepseek-v3", 671'026'404'352},
    {"deepseek-v3-mtp", 682'636'472'320},
    {"deepseek-v2-lite", 15'706'484'224},
    {"gemma-2-2b", 2'614'341'888},
    {"gemma-2-9b", 9'241'705'984},
    {"gpt-oss-20b", 20'914'757'184},
    {"gpt-oss-120b", 116'829'156'672},
    {"gpt2", 124'439'808},
    {"gpt2-xl", 1'557'611'200},
    {"gpt-neox-20b", 20'554'567'680},
    {"pythia-1b", 1'011'781'632},
    {"opt-125m", 125'239'296},
    {"opt-350m", 331'196'416},
    {"opt-6.7b", 6'658'473'984},
    {"bloom-560m", 559'214'592},
    {"bloom-176b", 176'247'271'424},
    {"falcon-7b", 6'921'720'704},
    {"falcon-40b", 41'303'293'952},
    {"phi-2", 2'779'683'840},
    {"phi-3-mini", 3'821'079'552},
    {"bert-base", 109'482'240},
    {"bert-large", 335'141'888},
    {"t5-small", 60'506'624},
    {"t5-base", 222'903'552},
    {"flan-t5-base", 247'577'856},
    {"t5-11b", 11'307'321'344},
    {"vit-base-patch16-224", 86'567'656},
    {"vit-large-patch16-224", 304'326'632},
    {"resnet-50", 25'557'032},
};

/// Parameters that one token uses.
constexpr Published published_active[] = {
    {"mixtral-8x7b", 12'879'925'248},
    {"qwen3-30b-a3b", 3'353'032'704},
    {"deepseek-v3", 37'552'282'624},
};

/// Networks whose published total counts something that is no parameter, or twice what is stored once: the difference.
const std::map<std::string, std::int64_t> explained_differences = {
    {"kimi-k2", 60 * 384},                                    // router correction buffers of 60 layers
    {"moonlight-16b-a3b", 26 * 64 + 27 * 64},                 // router correction buffers, stored rotary buffers
    {"falcon-180b", 65'024LL * 14'848},                       // the tied head, stored again
    {"pythia-6.9b", -2LL * 128 * 4'096},                      // published with the vocabulary of the smaller models
    {"pythia-12b", -2LL * 384 * 5'120},                       // likewise
    {"qwen3-next-80b-a3b", 81'324'862'720 - 79'674'391'296},  // the prediction layer
    {"glm-4.5", 358'337'791'296 - 352'797'814'784},           // the prediction layer and router correction buffers
    {"glm-4.5-air", 110'468'824'832 - 106'852'245'504},       // likewise
};

struct Tally {
  int exact = 0;
  int differing = 0;

  /// Prints only what differs.
  void compare(const std::string& what, std::int64_t predicted, std::int64_t expected) {
    if (predicted == expected) {
      ++exact;
      return;
    }
    ++differing;
    std::cout << what << ": predicted " << predicted << ", published " << expected << ", error " << predicted - expected
              << "\n";
  }
  void report(const std::string& title) const {
    std::cout << title << ": " << exact << " exact, " << differing << " differ\n";
    CHECK(differing == 0);
  }
};

}  // namespace

TEST_CASE("Parameter counts equal the published integers") {
  Tally tally;
  for (const Published& row : published_counts)
    tally.compare(row.network, parameter_count(find_network(row.network).graph), row.parameters);
  tally.report("published parameter counts");
}

TEST_CASE("Active parameter counts equal the published integers") {
  Tally tally;
  for (const Published& row : published_active)
    tally.compare(row.network, active_parameter_count(find_network(row.network).graph), row.parameters);
  tally.report("published active parameter counts");
}

TEST_CASE("Every network of the catalogue has its published count, or the difference is explained") {
  Tally tally;
  for (const std::string& name : network_names()) {
    const Network network = find_network(name);
    if (!network.published_parameters) continue;
    const auto explained = explained_differences.find(name);
    const std::int64_t difference = explained == explained_differences.end() ? 0 : explained->second;
    tally.compare(name, parameter_count(network.graph), *network.published_parameters - difference);
    if (difference != 0) CHECK_FALSE(network.note.empty());
  }
  tally.report("published counts of the catalogue");
}

// tests/data/parameter_counts/count_parameters.py instantiated every network without weights and counted.
TEST_CASE("Parameter counts, total and active, equal those of an independent implementation") {
  const std::string path = test_data_folder() + "/parameter_counts/parameter_counts.json";
  const Json json = read_json_file(path);
  Tally tally;
  JsonObject document(JsonPlace(json, "parameter_counts.json:"));
  for (const JsonPlace& place : document.at("entries").elements()) {
    JsonObject entry(place);
    const std::string name = entry.at("name").string();
    const std::int64_t total = entry.at("parameters").integer(1, INT64_MAX);
    const auto active = entry.find("active_parameters");
    const Network network = import_hugging_face(entry.at("config"), name);
    tally.compare(name, parameter_count(network.graph), total);
    tally.compare(name + " active", active_parameter_count(network.graph),
                  active ? active->integer(1, INT64_MAX) : total);
  }
  tally.report("counts of an independent implementation");
}

}  // namespace plumbline
