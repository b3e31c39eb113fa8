#pragma once
/// \file nccl_tables.h: the constants of NCCL's own performance model: microseconds and GB/s (10^9).
///
/// Source: NCCL 2.28.9, src/graph/tuning.cc (ncclTunerConstantsDefaults, nvlsEfficiency, treeCorrectionFactor) and
/// src/graph/topo.h, search.cc (link rates, speed ladders). The values are NCCL's measurements on its authors'
/// machines.

#include <array>
#include <cstdint>
#include <string_view>

namespace plumbline::nccl {

enum class Algorithm : std::uint8_t { tree, ring, nvls, nvls_tree, pat };
inline constexpr std::array all_algorithms{Algorithm::tree, Algorithm::ring, Algorithm::nvls, Algorithm::nvls_tree,
                                           Algorithm::pat};
inline constexpr std::array<std::string_view, 5> algorithm_names{"tree", "ring", "nvls", "nvls_tree", "pat"};
enum class Protocol : std::uint8_t { ll, ll128, simple };
inline constexpr std::array all_protocols{Protocol::ll, Protocol::ll128, Protocol::simple};
inline constexpr std::array<std::string_view, 3> protocol_names{"ll", "ll128", "simple"};
/// Rows of the tables by compute capability: 7.x, 8.x, 9.x, 10.x and later.
enum class Generation : std::uint8_t { volta, ampere, hopper, blackwell };
enum class LinkClass : std::uint8_t { nvlink, pci, net };

using PerProtocol = std::array<double, 3>;        // LL, LL128, Simple
using PerAlgorithm = std::array<PerProtocol, 5>;  // as all_algorithms
using PerScale = std::array<double, 3>;           // 1 node, 2 nodes, more
using PerGeneration = std::array<PerScale, 4>;

inline constexpr PerAlgorithm base_latency{{{6.8, 14.0, 8.4}, {6.6, 14.0, 8.4}, {0, 0, 0}, {0, 0, 0}, {8.0, 8.0, 8.0}}};
inline constexpr std::array<PerAlgorithm, 3> hardware_latency{
    {{{{.6, 1.25, 4.0}, {.6, 1.9, 3.4}, {0, 0, 25}, {0, 0, 25}, {0, 0, 4.0}}},
     {{{1.0, 1.9, 4.0}, {1.0, 2.5, 5.7}, {0, 0, 0}, {0, 0, 0}, {0, 0, 4.0}}},
     {{{5.0, 8.5, 14}, {2.7, 4.0, 14}, {0, 0, 18}, {0, 0, 20.9}, {0, 0, 14}}}}};

inline constexpr PerGeneration ll_max{{{39, 39, 20.4}, {87.7, 22.5, 19}, {141, 45, 35}, {282, 90, 70}}};
inline constexpr PerGeneration channel_max_ring_ll128{
    {{20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 36.7}, {73.4, 34.6, 73.4}}};
inline constexpr PerGeneration channel_max_tree_ll128{
    {{20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 29}, {55.6, 31.67, 20}}};
inline constexpr PerGeneration channel_max_tree{{{26.5, 18.5, 10}, {24, 23.6, 17.8}, {38.7, 41.4, 36}, {70, 42.8, 24}}};
inline constexpr PerGeneration channel_max_nvls_tree{
    {{26.5, 18.5, 10}, {24, 23.6, 17.8}, {0, 57.7, 45.5}, {0, 96, 43.8}}};
/// Share of NVLink that in-switch reduction reaches; zero where the switch cannot.
inline constexpr std::array<double, 4> nvls_efficiency{0, 0, .85, .74};
/// Share of a device's links that in-switch all-reduce fills inside a node: what NCCL's own estimate says of 8 devices,
/// 476 GB/s of bus bandwidth on 370.8 and 828.8 on 721.8, over the law of in_switch_bandwidth (nccl_model.cpp).
inline constexpr std::array<double, 4> nvls_link_share{0, 0, 476 / 370.8 * 9 / 14, 828.8 / 721.8 * 9 / 14};
/// Devices up to which that law was held against measurements.
inline constexpr int nvls_law_up_to_ranks = 8;

inline constexpr double ring_ll_share = .5;
inline constexpr double ll128_share = .92;  // 120 of 128 bytes carry data; .92 measured
inline constexpr double tree_share = .92;
inline constexpr double tree_ll_divisor = 3.8;
inline constexpr double tree_ll128_share_one_node = 7.0 / 9;
inline constexpr double tree_ll128_share = 120.0 / 128;
inline constexpr double pat_share = .75;
inline constexpr double pat_latency_divisor = 3.5;
inline constexpr double pat_latency_per_rank = 2.8;
inline constexpr double net_overhead = 1.0;  // of a step that does not cross the network, in a multi-node ring
inline constexpr double net_overhead_amd = 2.0;
inline constexpr double net_overhead_simple_factor = 3;
inline constexpr double ring_plateau_factor = 1.4;
inline constexpr double ring_plateau_factor_volta = 1.9;
inline constexpr std::int64_t ring_plateau_bytes = 64;  // per channel and rank

/// Trees fall behind their model at middle sizes: a factor per power of two from 64 B to 256 MB.
inline constexpr std::array<std::array<double, 23>, 3> tree_correction{
    {{1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1, 1, 1, 1},
     {1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9, 1, 1},
     {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5, .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9}}};

/// Speeds of one channel that the graph search tries, fastest first.
inline constexpr std::array ladder_intra{40., 30., 20., 18., 15., 12., 10., 9., 7., 6., 5., 4., 3.};
inline constexpr std::array ladder_intra_hopper{60., 50., 40., 30., 24., 20., 15., 12., 11., 6., 3.};
inline constexpr std::array ladder_intra_blackwell{90., 80., 70., 60., 50., 45., 40., 30., 24., 20., 19., 18.};
inline constexpr double fastest_inter_channel = 48;
inline constexpr double fastest_inter_channel_blackwell = 96;
inline constexpr int most_channels = 16;  // of one search, before they are doubled
/// Channels of this speed or more are split in two; on Hopper and later only few or very fast ones.
inline constexpr double split_from = 25;
inline constexpr double split_from_hopper = 50;
inline constexpr int split_up_to_channels_hopper = 4;

/// GB/s that NCCL counts of a link over the datasheet's: NVLink 20, 20.6 and 40.1 of 25, 25 and 50 per link (topo.h),
/// PCIe 3.0 x16 12 of 15.75, networks 12 of 12.5.
inline constexpr std::array<double, 4> nvlink_share{20. / 25, 20. / 25, 20.6 / 25, 40.1 / 50};
inline constexpr double pcie_share = 12 / 15.75;
inline constexpr double net_share = 12 / 12.5;
/// RCCL, src/graph/topo.h: xGMI 48 of 64 GB/s on gfx94x, 36 of 50 on gfx90a.
inline constexpr double xgmi_share_cdna3 = 48. / 64;
inline constexpr double xgmi_share_cdna2 = 36. / 50;

}  // namespace plumbline::nccl
