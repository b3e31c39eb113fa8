#pragma once
/// \file rank_map.h: which place every rank of a plan takes, and whose program it runs.
///
/// Answers: per global rank its host, the device there, its coordinate on every axis, and its representative: the
/// pipeline rank whose program (core/program/program.h) all ranks of that stage run.
/// Model: ranks fill hosts in order, of a mixed cluster kind after kind; a coordinate is rank / stride mod size of the
/// plan's own group table. Source: the layout of the plan (core/plan/plan.h), which core/plan/rank_group.h made. Not
/// modelled: several jobs on one host; devices that are numbered otherwise than ranks. Checked against:
/// tests/unit/core/plan/rank_map_test.cpp (16 ranks by hand; every group's members).

#include <string>
#include <vector>

#include "core/plan/plan.h"

namespace plumbline {

struct RankPlace {
  std::int64_t rank = 0;
  std::int64_t host = 0;
  std::int64_t device = 0;                ///< of the host
  std::string device_name = {};           ///< in a mixed cluster; else empty
  std::int64_t representative = 0;        ///< pipeline rank
  std::vector<std::int64_t> coordinates;  ///< one for each of `numbering_axes`
};

/// The axes that number the ranks, and the experts' where there are any.
[[nodiscard]] std::vector<GroupLayout> numbering_axes(const Layout& layout);
/// The coordinate of a rank on one axis.
[[nodiscard]] std::int64_t coordinate(std::int64_t rank, const GroupLayout& axis);
/// Every rank of the machine, made on demand: a list of a hundred thousand is not kept in a plan.
[[nodiscard]] std::vector<RankPlace> rank_map(const Layout& layout, const MachineReference& machine);

}  // namespace plumbline
