#pragma once
/// \file machine_catalog.h: the devices, fabrics and clusters that ship with this program, found by name.
///
/// models/machines holds one file each (core/io/machine_json.h): device-*.json, fabric-*.json, and clusters under
/// their own names. A cluster of the catalogue is one node; with_device_count (core/machine/cluster.h) makes it larger.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/io/machine_json.h"

namespace plumbline {

/// The clusters, sorted. Aliases are not listed.
[[nodiscard]] std::vector<std::string> machine_names();

/// A cluster by name or alias, in any case, or from the path of a plumbline.machine/1 file that holds a cluster; such a
/// file may name devices and fabrics of the catalogue. "this-computer" is not in the catalogue: it is found where the
/// program runs (this_computer.h). Throws InputError with the nearest names, or what the file's reader throws.
[[nodiscard]] Cluster find_machine(std::string_view name_or_path);
/// What to say about a text that could be read both ways (name_or_path.h); or empty.
[[nodiscard]] std::string machine_name_warning(std::string_view name_or_path);

/// All devices and fabrics of the catalogue, sorted by file name.
[[nodiscard]] const MachineParts& machine_parts();

}  // namespace plumbline
