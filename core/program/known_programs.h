#pragma once
/// \file known_programs.h: programs of blocks by what their instructions depend on, for those who lower many shards.
///
/// Answers a program whose sizes are those of the first shard that it was lowered for. Model: degrees of parallelism
/// change which instructions there are where they become more than one, and sizes otherwise (BlockLowering::shape), so
/// that of thousands of shards some dozens are lowered. Blocks outlive it; a copy is for other blocks, so it begins
/// empty. Checked against: tests/property/block_program_test.cpp.

#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "core/program/block_program.h"

namespace plumbline {

/// May be shared by threads.
class KnownPrograms {
 public:
  /// A block and the numbers that its instructions depend on.
  using Key = std::pair<const Block*, std::vector<std::int32_t>>;

  KnownPrograms() = default;
  KnownPrograms(const KnownPrograms& /*of_other_blocks*/) {}
  KnownPrograms& operator=(const KnownPrograms& /*of_other_blocks*/) {
    const std::scoped_lock lock(mutex_);
    programs_.clear();
    return *this;
  }
  ~KnownPrograms() = default;

  [[nodiscard]] std::shared_ptr<const BlockProgram> find(const Key& key) const {
    const std::scoped_lock lock(mutex_);
    const auto found = programs_.find(key);
    return found == programs_.end() ? nullptr : found->second;
  }
  /// Returns what is known from here: of two of one key the first. Beyond `most_kept` nothing is kept.
  std::shared_ptr<const BlockProgram> keep(Key key, BlockProgram program) {
    auto kept = std::make_shared<const BlockProgram>(std::move(program));
    const std::scoped_lock lock(mutex_);
    if (programs_.size() >= most_kept) return kept;
    return programs_.try_emplace(std::move(key), std::move(kept)).first->second;
  }

 private:
  /// The lowered program of a layer takes 12 KB (GPT-3) to 25 KB (DeepSeek-V3), so all of them at most 100 MB.
  static constexpr std::size_t most_kept = 4096;

  mutable std::mutex mutex_;
  std::map<Key, std::shared_ptr<const BlockProgram>> programs_;
};

}  // namespace plumbline
