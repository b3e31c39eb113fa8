#include "planner/present/onnx_table.h"

#include "core/quantity/text.h"
#include "planner/present/numbers.h"

namespace plumbline::present {
namespace {

Cell work_cell(Flops work) { return {fixed(work.value() / 1e9, 3) + " GFLOP", work.value()}; }
Cell bytes_cell(Bytes bytes) { return {to_text(bytes), static_cast<double>(bytes.value())}; }

}  // namespace

Table onnx_table(const OnnxSummary& summary) {
  const std::string of = summary.batch == 1 ? "1 sample" : std::to_string(summary.batch) + " samples";
  Table table{{{"quantity", "forward pass of " + of, Unit::text, "what is counted of the graph", Align::left},
               {"amount", "amount", Unit::number, "FLOPs or bytes"}},
              {}};
  for (std::size_t i = 0; i < onnx::operator_classes; ++i) {
    const auto c = static_cast<onnx::OperatorClass>(i);
    if (summary.work.of(c) > Flops(0))
      table.rows.push_back({words(std::string(onnx::to_text(c))), work_cell(summary.work.of(c))});
  }
  table.rows.push_back({words("activations alive at once"), bytes_cell(summary.work.peak)});
  table.rows.push_back({words("kept for backward, by rule, in 16 bits"), bytes_cell(summary.kept)});
  for (const onnx::UnknownOperator& u : summary.work.unknown)
    table.rows.push_back({words("UNKNOWN operator " + u.type.substr(0, 80) + ", counted as no work"),
                          {std::to_string(u.count) + " times", static_cast<double>(u.count)}});
  return table;
}

}  // namespace plumbline::present
