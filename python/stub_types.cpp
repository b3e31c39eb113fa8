#include "python/stub_types.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "core/base/errors.h"

namespace plumbline::python {
namespace {

constexpr std::string_view count_type = "_Count";
constexpr std::string_view amount_type = "_Amount";
constexpr std::string_view path_type = "_Path";
constexpr std::string_view list_type = "_List";
constexpr std::string_view bool_type = "bool";
constexpr std::string_view text_type = "str";

struct ValueType {
  std::string_view values;  ///< as help shows them
  std::string_view type;
};
constexpr auto value_types = std::to_array<ValueType>({{"", bool_type},
                                                       {"on|off", bool_type},
                                                       {"N", count_type},
                                                       {"N,N,...", list_type},
                                                       {"PARTS", list_type},
                                                       {"MODEL", path_type},
                                                       {"MACHINE", path_type},
                                                       {"STACK", path_type},
                                                       {"FILE", path_type},
                                                       {"DOLLARS", amount_type},
                                                       {"DAYS", amount_type},
                                                       {"RATIO", amount_type},
                                                       {"GRAMS", amount_type},
                                                       {"SHARE|SIZE", amount_type},
                                                       {"R", amount_type},
                                                       {"X", amount_type},
                                                       {"V", amount_type},
                                                       {"T", amount_type},
                                                       {"NORM", amount_type},
                                                       {"FACTOR", amount_type},
                                                       {"SHARE", amount_type},
                                                       {"DIR", path_type},
                                                       {"HOST:PORT|FOLDER", text_type},
                                                       {"FORMAT", text_type},
                                                       {"SHAPE", text_type},
                                                       {"HOW", text_type},
                                                       {"WHO", text_type},
                                                       {"TEXT", text_type},
                                                       {"NAME,...", list_type},
                                                       {"TIME", text_type},
                                                       {"NAME", text_type},
                                                       {"NAME=N", "str | Mapping[str, int]"},
                                                       {"STAGE=X,...", "str | Mapping[int, float]"},
                                                       {"AXES", "str | Mapping[str, object]"}});

std::string_view type_of_values(std::string_view values) {
  const auto* const found =
      std::find_if(value_types.begin(), value_types.end(), [&](const ValueType& row) { return row.values == values; });
  if (found != value_types.end()) return found->type;
  const bool is_choice = std::none_of(values.begin(), values.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
  check(is_choice, "words for values have a type in Python");
  return text_type;
}

std::string key_type(AxisKind kind) {
  switch (kind) {
    case AxisKind::number: return "int";
    case AxisKind::toggle: return "bool";
    case AxisKind::layers: return "list[int] | None";
    case AxisKind::choice:
    case AxisKind::recompute: break;
  }
  return "str";
}

}  // namespace

std::string argument_type(const OptionWords& words) {
  const std::string_view one = words.is_large ? amount_type : type_of_values(words.values);
  if (!words.several) return std::string(one);
  if (one == bool_type) return "bool | _List";
  return one == path_type ? "_Path | Sequence[_Path]" : std::string(list_type);
}

std::string argument_type(const StrategyAxis& axis) {
  switch (axis.kind) {
    case AxisKind::number: return std::string(count_type);
    case AxisKind::toggle: return std::string(bool_type);
    case AxisKind::layers: return std::string(list_type);
    case AxisKind::choice:
    case AxisKind::recompute: break;
  }
  return std::string(text_type);
}

std::vector<TypedName> strategy_keys() {
  std::vector<TypedName> keys;
  for (const StrategyAxis* axis : strategy_axes_by(&StrategyAxis::file_place))
    if (axis->in_files != InFiles::where_unusual) keys.emplace_back(axis->key, key_type(axis->kind));
  return keys;
}

}  // namespace plumbline::python
