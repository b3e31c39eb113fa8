#pragma once
/// \file machine_aliases.h: other names of the catalogue's clusters: short ones, cloud instances, vendors' spellings.

#include <array>
#include <string_view>

namespace plumbline {

struct MachineAlias {
  std::string_view alias;  ///< lower case
  std::string_view name;
};

inline constexpr std::array machine_alias_table{
    MachineAlias{"a100", "dgx-a100-80g"},
    MachineAlias{"a100-40g", "dgx-a100-40g"},
    MachineAlias{"a100-80g", "dgx-a100-80g"},
    MachineAlias{"a100-pcie", "a100-80g-pcie"},
    MachineAlias{"a10g", "a10g-pcie"},
    MachineAlias{"a3-highgpu-8g", "gcp-a3-high"},
    MachineAlias{"a3-megagpu-8g", "gcp-a3-mega"},
    MachineAlias{"a6000", "a6000-pcie"},
    MachineAlias{"a800", "hgx-a800"},
    MachineAlias{"alps", "alps-gh200"},
    MachineAlias{"b200", "dgx-b200"},
    MachineAlias{"b300", "dgx-b300"},
    MachineAlias{"dgx-1", "dgx1-v100"},
    MachineAlias{"dgx-2", "dgx2-v100"},
    MachineAlias{"dgx-a100", "dgx-a100-80g"},
    MachineAlias{"dgx-a100-40gb", "dgx-a100-40g"},
    MachineAlias{"dgx-a100-80gb", "dgx-a100-80g"},
    MachineAlias{"dgx-gb200", "gb200-nvl72"},
    MachineAlias{"dgx-gb300", "gb300-nvl72"},
    MachineAlias{"dgx-h100-80g", "dgx-h100"},
    MachineAlias{"dgx-h100-80gb", "dgx-h100"},
    MachineAlias{"dgx-h200-141g", "dgx-h200"},
    MachineAlias{"ethernet-100g", "h100-ethernet-100g"},
    MachineAlias{"g5.48xlarge", "a10g-pcie"},
    MachineAlias{"g6.48xlarge", "l4-pcie"},
    MachineAlias{"g6e.48xlarge", "l40s-pcie"},
    MachineAlias{"gb200", "gb200-nvl72"},
    MachineAlias{"gb300", "gb300-nvl72"},
    MachineAlias{"h100", "dgx-h100"},
    MachineAlias{"h100-80g", "dgx-h100"},
    MachineAlias{"h100-nvl", "h100-nvl-pcie"},
    MachineAlias{"h100-pcie", "hgx-h100-pcie"},
    MachineAlias{"h100-sxm", "dgx-h100"},
    MachineAlias{"h200", "dgx-h200"},
    MachineAlias{"h800", "hgx-h800"},
    MachineAlias{"hgx-a100", "dgx-a100-80g"},
    MachineAlias{"hgx-b200", "dgx-b200"},
    MachineAlias{"hgx-h100", "dgx-h100"},
    MachineAlias{"hgx-h200", "dgx-h200"},
    MachineAlias{"l4", "l4-pcie"},
    MachineAlias{"l40s", "l40s-pcie"},
    MachineAlias{"mi300x-node", "mi300x"},
    MachineAlias{"p3dn.24xlarge", "aws-p3dn"},
    MachineAlias{"p4d.24xlarge", "aws-p4d"},
    MachineAlias{"p4de.24xlarge", "aws-p4de"},
    MachineAlias{"p5.48xlarge", "aws-p5"},
    MachineAlias{"p5en.48xlarge", "aws-p5en"},
    MachineAlias{"p6-b200.48xlarge", "aws-p6-b200"},
    MachineAlias{"rtx3090", "rtx3090-pcie"},
    MachineAlias{"rtx4090", "rtx4090-pcie"},
    MachineAlias{"t4", "t4-pcie"},
    MachineAlias{"v100", "dgx1-v100"},
    MachineAlias{"v100-16g", "dgx1-v100-16g"},
    MachineAlias{"v100-32g", "dgx1-v100"},
};

}  // namespace plumbline
