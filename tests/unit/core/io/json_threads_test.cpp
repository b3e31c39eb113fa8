#include <thread>

#include "core/base/errors.h"
#include "core/io/json.h"
#include "core/quantity/text.h"
#include "tests/catch.h"

namespace plumbline {
namespace {

// Readers and writers hold no state of their own, so the search may report from any thread.
TEST_CASE("reading and writing from many threads gives the same bytes") {
  const std::string text = "{\n  \"memory\": \"80 GiB\",\n  \"levels\": [\n    1,\n    2.5\n  ]\n}\n";
  std::vector<std::string> written(8);
  std::vector<std::thread> threads;
  for (std::string& slot : written) {
    threads.emplace_back([&text, &slot] {
      for (int round = 0; round < 50; ++round) {
        const Json document = parse_json(text, "x");
        slot = to_json_text(document) + to_text(parse_bytes(*document.find("memory")->if_string(), "x"));
        try {
          (void)parse_json("[", "x");
        } catch (const InputError& error) {
          slot += error.what();
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& slot : written) CHECK(slot == written.front());
}

}  // namespace
}  // namespace plumbline
