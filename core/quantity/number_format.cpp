#include "core/quantity/number_format.h"

#include "core/base/found_by_name.h"

namespace plumbline {

std::string_view to_text(NumberFormat format) {
  switch (format) {
    case NumberFormat::fp64: return "fp64";
    case NumberFormat::fp32: return "fp32";
    case NumberFormat::tf32: return "tf32";
    case NumberFormat::fp16: return "fp16";
    case NumberFormat::bf16: return "bf16";
    case NumberFormat::fp8_e4m3: return "fp8_e4m3";
    case NumberFormat::fp8_e5m2: return "fp8_e5m2";
    case NumberFormat::fp4: return "fp4";
    case NumberFormat::int64: return "int64";
    case NumberFormat::int32: return "int32";
    case NumberFormat::int8: return "int8";
    case NumberFormat::nf4: return "nf4";
  }
  return "";
}

std::optional<NumberFormat> number_format_from_text(std::string_view text) {
  return value_named(all_number_formats, text);
}

}  // namespace plumbline
