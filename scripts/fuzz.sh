#!/usr/bin/env bash
# Runs every fuzz target of a build for an equal share of the time, starting from its seed corpus.
# Usage: fuzz.sh <build folder> [seconds in all]
# What was found to crash stays as <build folder>/fuzz/<target>-crash-*; what was found to be new in <build folder>/fuzz/<target>.
set -euo pipefail
build=$1
seconds=${2:-60}
targets=$(wc -l <"$build/fuzz_targets.txt")
share=$((seconds / targets > 0 ? seconds / targets : 1))
while read -r target corpus dictionary; do
  found=$build/fuzz/$target
  mkdir -p "$found"
  echo "fuzz: $target for $share s"
  log=$found.log
  if ! "$build/bin/$target" -max_total_time="$share" -timeout=10 -rss_limit_mb=2048 -max_len=16384 -print_final_stats=1 -dict="$dictionary" \
    -artifact_prefix="$found-" "$found" "$corpus" >"$log" 2>&1; then
    tail -n 60 "$log"
    echo "fuzz: $target failed; the input is beside $found" >&2
    exit 1
  fi
  grep -E '^(Done|stat::number_of_executed_units|stat::peak_rss_mb)' "$log"
done <"$build/fuzz_targets.txt"
