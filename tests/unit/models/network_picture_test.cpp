#include "models/network_picture.h"

#include "models/network_catalog.h"
#include "tests/catch.h"

namespace plumbline {

using Catch::Matchers::ContainsSubstring;

TEST_CASE("A picture shows blocks with their counts, operators with their parameters, tensors with their shapes") {
  const std::string text = graphviz(find_network("llama-3-8b").graph);
  CHECK_THAT(text, ContainsSubstring("digraph network {"));
  CHECK_THAT(text, ContainsSubstring("8 030 261 248 parameters"));
  CHECK_THAT(text, ContainsSubstring("layer  x 32"));
  CHECK_THAT(text, ContainsSubstring("attention.qkv\\nlinear\\nq.weight [4096, 4096]"));
  CHECK_THAT(text, ContainsSubstring("label=\"b, s, 14336\""));
  CHECK(text.back() == '\n');
}

TEST_CASE("Every network has a picture with as many closed braces as open ones") {
  for (const std::string& name : network_names()) {
    const std::string text = graphviz(find_network(name).graph);
    CHECK(std::count(text.begin(), text.end(), '{') == std::count(text.begin(), text.end(), '}'));
  }
}

}  // namespace plumbline
