#include "models/io/onnx_json.h"

#include "tests/catch.h"
#include "tests/source_folder.h"

namespace plumbline {

// moe.json: 860 160 parameters, 40 375 296 FLOPs of one sample.
TEST_CASE("The JSON of an ONNX graph holds the network's blocks and what the graph counts") {
  const Json json = onnx_json(import_onnx_with_summary(test_data_folder() + "/onnx/moe-dynamo.onnx@batch=3"));
  CHECK(*json.find("parameters")->if_integer() == 860'160);
  CHECK(*json.find("layers")->if_integer() == 3);
  const Json& onnx = *json.find("onnx");
  CHECK(*onnx.find("samples")->if_integer() == 3);
  CHECK(*onnx.find("forward_product_flops")->if_double() == 3 * 40'375'296.0);
  CHECK(*onnx.find("forward_flops")->find("convolution")->if_double() == 0);
  CHECK(onnx.find("unknown_operators")->if_array()->empty());
}

}  // namespace plumbline
