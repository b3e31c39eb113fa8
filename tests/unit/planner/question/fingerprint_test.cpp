// A fingerprint changes with what was priced, and with nothing else.

#include "planner/question/fingerprint.h"

#include "core/training/adaptation.h"
#include "models/machine_catalog.h"
#include "models/network_catalog.h"
#include "tests/catch.h"

namespace plumbline {
namespace {

// FNV-1a's published test vectors for 64 bits.
TEST_CASE("a text's fingerprint is FNV-1a in hexadecimal") {
  CHECK(fingerprint("") == "cbf29ce484222325");
  CHECK(fingerprint("a") == "af63dc4c8601ec8c");
  CHECK(fingerprint("foobar") == "85944171f73967e8");
}

TEST_CASE("the same network and machine have the same fingerprint") {
  CHECK(fingerprint(find_network("gpt2").graph) == fingerprint(find_network("openai-community/gpt2").graph));
  CHECK(fingerprint(find_machine("dgx-h100")) == fingerprint(find_machine("DGX-H100")));
  CHECK(fingerprint(with_device_count(find_machine("dgx-h100"), 64)) ==
        fingerprint(with_device_count(find_machine("dgx-h100"), 64)));
}

TEST_CASE("all networks, and all machines, differ in their fingerprints") {
  std::map<std::string, std::string> seen;
  for (const char* name : {"gpt2", "gpt2-medium", "llama-3-8b", "mixtral-8x7b", "t5-small", "resnet-18"}) {
    const std::string print = fingerprint(find_network(name).graph);
    CHECK(print.size() == 16);
    CHECK(seen.emplace(print, name).second);
  }
  for (const std::string& name : machine_names()) CHECK(seen.emplace(fingerprint(find_machine(name)), name).second);
}

TEST_CASE("what is trained, and on how many devices, is part of the fingerprint") {
  const Graph graph = find_network("gpt2").graph;
  Adaptation frozen;
  frozen.freeze_embeddings = true;
  Adaptation adapters;
  adapters.lora_rank = 8;
  CHECK(fingerprint(adapted(graph, frozen)) != fingerprint(graph));
  CHECK(fingerprint(adapted(graph, adapters)) != fingerprint(graph));
  CHECK(fingerprint(adapted(graph, {})) == fingerprint(graph));
  const Cluster machine = find_machine("dgx-h100");
  CHECK(fingerprint(with_device_count(machine, 16)) != fingerprint(machine));
}

}  // namespace
}  // namespace plumbline
