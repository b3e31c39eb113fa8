#pragma once
/// \file machine_numbers.h: every number of a cluster with its source, and the cluster with some of them edited.
///
/// Answers: the numbers of a machine document ("plumbline.machine/1", core/io/machine_json.h) in its order, each by its
/// JSON pointer; and the document in which some have another value, which the format's reader has accepted.
/// Model: an edited number is an assumed one unless somebody says where it comes from.
/// Checked against: tests/gui/machine/machine_numbers_test.cpp.

#include <string>
#include <string_view>
#include <vector>

#include "core/io/json.h"

namespace plumbline::gui {

/// Of one number; an empty text leaves that part to the program.
struct MachineEdit {
  std::string place;   ///< JSON pointer: "/cluster/nodes/0/device/memory"
  std::string value;   ///< as it is typed: "96 GiB"
  std::string source;  ///< empty: that it was edited, and what it was before
  std::string kind;    ///< empty: assumed
  friend bool operator==(const MachineEdit&, const MachineEdit&) = default;
};

struct MachineNumber {
  std::string place;
  std::string part;  ///< whose: "H100-SXM-80GB"
  std::string name;  ///< "peaks bf16"
  std::string value;
  std::string source;  ///< empty, and so is the kind: a count, which files state without a source
  std::string kind;
  std::string date;  ///< or empty
};

/// A cluster of the catalogue, this computer or a file, with its devices and network spelled out. Throws InputError.
[[nodiscard]] Json machine_document(std::string_view machine);
[[nodiscard]] std::vector<MachineNumber> machine_numbers(const Json& document);
/// Under the name of the cluster and "-edited". Throws InputError for a place that has no number and for values that
/// the format's reader refuses; `machine` names the document in messages.
[[nodiscard]] Json edited_machine(const Json& document, const std::vector<MachineEdit>& edits,
                                  std::string_view machine);

}  // namespace plumbline::gui
