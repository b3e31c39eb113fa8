#pragma once
/// \file run_ranks.h: what the ranks of a run are, as `plan run` is asked for them.
///
/// Where CUDA was not built, or no GPU is there, the child process says so.
/// Checked against: tests/gui/pages/run_page_test.cpp.

#include <QStringList>
#include <array>
#include <cstdint>

namespace plumbline::gui {

enum class RunRanks : std::uint8_t { cpu_threads, one_gpu, gpu_each };
inline constexpr std::array all_run_ranks{RunRanks::cpu_threads, RunRanks::one_gpu, RunRanks::gpu_each};

/// "CPU: ranks are threads".
[[nodiscard]] QString words_of(RunRanks ranks);
/// Flags of `plan run`; none for what it does without.
[[nodiscard]] QStringList flags_of(RunRanks ranks);

}  // namespace plumbline::gui
