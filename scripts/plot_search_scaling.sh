#!/bin/sh
# Draws docs/images/search-scaling.svg: seconds that a whole search keeps one core busy against the number of GPUs.
# Wants a release build with the benchmarks (make bench, or -DPLUMBLINE_BENCH=ON) and gnuplot.
# Usage: scripts/plot_search_scaling.sh [build folder]
set -eu
cd "$(dirname "$0")/.."
bench=${1:-build}/bin/search_scaling_bench
table=$(mktemp)
trap 'rm -f "$table"' EXIT

"$bench" --benchmark_repetitions=5 --benchmark_report_aggregates_only=true --benchmark_format=csv 2>/dev/null |
  sed -n 's/^"\([a-z_0-9]*\)\/\([0-9]*\)_median",[^,]*,[^,]*,\([^,]*\),.*/\1 \2 \3/p' >"$table"
test -s "$table" || { echo "$bench printed no medians" >&2; exit 1; }
cat "$table"

gnuplot <<PLOT
set terminal svg size 800,480 font "sans-serif,14" background "white"
set output "docs/images/search-scaling.svg"
set logscale xy
set logscale x 2
set xrange [6:180000]
set yrange [1e-2:100]
set xtics 8,4 format "%.0f"
set format y "%g s"
set xlabel "GPUs"
set ylabel "whole search on one core"
set grid xtics ytics linecolor "#d0d0d0"
set key top left
plot "< grep '^llama_405b' $table" using 2:(\$3/1000) with linespoints linewidth 2 pointtype 7 linecolor "#1f6fb4" title "Llama 3.1 405B, DGX H100", \
     "< grep '^llama_8b' $table" using 2:(\$3/1000) with linespoints linewidth 2 pointtype 5 linecolor "#c8500a" title "Llama 3 8B, DGX H100"
PLOT
