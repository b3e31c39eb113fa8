#pragma once
/// \file catalogue_tables.h: networks, machines and software stacks as lists, and each in detail.
///
/// Checked against: tests/unit/planner/present/catalogue_tables_test.cpp.

#include <string>

#include "core/machine/cluster.h"
#include "models/calibration_set.h"
#include "models/description/network.h"
#include "planner/present/table.h"

namespace plumbline::present {

/// Every network of the catalogue.
[[nodiscard]] Table network_table();
[[nodiscard]] Table block_table(const Network& network);

/// Every machine of the catalogue.
[[nodiscard]] Table machine_table();
/// Each number of a node and its device, with where it comes from. `machine_price`: what is paid on this machine,
/// instead of the device's usual price.
[[nodiscard]] Table machine_number_table(const Node& node,
                                         const std::optional<Sourced<Dollars>>& machine_price = std::nullopt);
/// What collectives were measured to reach; no rows where nobody did.
[[nodiscard]] Table link_factor_table(const LinkFactors& factors);
[[nodiscard]] Table network_level_table(const Fabric& fabric);

/// Every software stack of the catalogue.
[[nodiscard]] Table stack_table();
[[nodiscard]] Table stack_axis_table(const CalibrationSet& set, const SoftwareStack& stack);
/// Every feature of a stack, with what decides it.
[[nodiscard]] Table feature_table(const CalibrationSet& set, const SoftwareStack& stack);
/// Every number of a stack, with what decides it.
[[nodiscard]] Table coefficient_table(const CalibrationSet& set, const SoftwareStack& stack);
/// "1.0 to 2.3"; empty where it has no releases.
[[nodiscard]] std::string releases_text(const SoftwareStack& stack);

}  // namespace plumbline::present
