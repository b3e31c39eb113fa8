#include "models/import/onnx/reference.h"

#include "core/base/errors.h"
#include "models/name_or_path.h"
#include "tests/catch.h"

namespace plumbline::onnx {

TEST_CASE("A text that ends in .onnx, or goes on with dimensions, names an ONNX file") {
  CHECK(is_reference("bert.onnx"));
  CHECK(is_reference("a/b.onnx@sequence=512"));
  CHECK_FALSE(is_reference("bert"));
  CHECK_FALSE(is_reference("bert.onnx.json"));
  CHECK(is_explicit_path("bert.onnx"));
}

TEST_CASE("Dimensions stand behind the path, apart by commas") {
  const Reference reference = reference_of("a@b/bert.onnx@sequence=512,images[2]=224");
  CHECK(reference.path == "a@b/bert.onnx");
  CHECK(reference.dimensions == std::map<std::string, std::int64_t>{{"sequence", 512}, {"images[2]", 224}});
  CHECK(reference_of("bert.onnx").dimensions.empty());
}

TEST_CASE("Flags join what the text already binds, sorted by name") {
  CHECK(with_dimensions("bert.onnx@s=3", {"past=5"}, "--dim") == "bert.onnx@past=5,s=3");
  CHECK(with_dimensions("llama-3-8b", {}, "--dim") == "llama-3-8b");
}

TEST_CASE("What binds nothing is refused with the flag") {
  CHECK_THROWS_WITH(with_dimensions("bert.onnx", {"sequence"}, "--dim"),
                    "--dim: \"sequence\" binds no dimension; expected NAME=N, N from 1 to 10^9");
  CHECK_THROWS_WITH(with_dimensions("bert.onnx@s=3", {"s=4"}, "--dim"), "--dim: s is bound twice; expected once");
  CHECK_THROWS_WITH(with_dimensions("llama-3-8b", {"s=4"}, "--dim"),
                    "--dim: llama-3-8b has no symbolic dimensions; expected a model that is an ONNX file");
}

}  // namespace plumbline::onnx
