#include "models/io/onnx_json.h"

#include "core/io/json_array.h"
#include "models/io/catalogue_json.h"

namespace plumbline {

Json onnx_json(const OnnxImport& onnx) {
  Json::Object flops;
  for (std::size_t i = 0; i < onnx::operator_classes; ++i)
    flops.emplace_back(std::string(onnx::to_text(static_cast<onnx::OperatorClass>(i))),
                       onnx.summary.work.flops[i].value());
  const auto unknown = [](const onnx::UnknownOperator& u) {
    return Json::Object{{"operator", u.type}, {"count", u.count}};
  };
  Json::Object object = *network_json(onnx.network).if_object();
  object.emplace_back("onnx", Json::Object{{"producer", onnx.summary.producer},
                                           {"opset", onnx.summary.opset},
                                           {"nodes", onnx.summary.nodes},
                                           {"samples", onnx.summary.batch},
                                           {"forward_flops", std::move(flops)},
                                           {"forward_product_flops", onnx.summary.work.products().value()},
                                           {"forward_peak_activation_bytes", onnx.summary.work.peak.value()},
                                           {"kept_for_backward_bytes_by_rule", onnx.summary.kept.value()},
                                           {"unknown_operators", json_array(onnx.summary.work.unknown, unknown)}});
  return object;
}

}  // namespace plumbline
