#include <algorithm>
#include <cmath>
#include <string>

#include "core/io/number_text.h"
#include "core/quantity/text.h"
#include "planner/question/question.h"

namespace plumbline {

Bytes Headroom::of(Bytes device_memory) const {
  const double part = std::ceil(share * static_cast<double>(device_memory.value()));
  return std::max(bytes, Bytes(static_cast<std::int64_t>(part)));
}

Headroom headroom_from_text(std::string_view text, std::string_view where) {
  Headroom headroom;
  if (text == "0") return headroom;
  if (text.empty() || text.back() != '%') {
    headroom.bytes = parse_bytes(text, where);
    return headroom;
  }
  std::string_view number = text.substr(0, text.size() - 1);
  if (!number.empty() && number.back() == ' ') number.remove_suffix(1);
  headroom.share = number_from_text(where, std::string(number), 0, 100) / 100;
  return headroom;
}

}  // namespace plumbline
