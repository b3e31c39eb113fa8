// Reads quantities as JSON text and prints what they imply, so that headers, library and our JSON reader are all used.
#include <iostream>

#include "core/io/json.h"
#include "core/quantity/text.h"

int main() {
  using namespace plumbline;
  const Json document = parse_json(R"({"memory": "80 GiB", "bandwidth": "2 TB/s"})", "main.cpp");
  JsonObject object(JsonPlace(document, "main.cpp"));
  const Bytes memory = parse_bytes(object.at("memory").string(), "/memory");
  const BytesPerSecond bandwidth = parse_bandwidth(object.at("bandwidth").string(), "/bandwidth");
  object.finish();
  std::cout << memory.value() / (1 << 30) << " GiB over 2 TB/s takes " << to_text(memory / bandwidth) << '\n';
}
