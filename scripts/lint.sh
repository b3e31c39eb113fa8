#!/usr/bin/env bash
# Runs clang-tidy; every finding is an error.
# Usage: lint.sh                    every .cpp file
#        lint.sh --changed [BASE]   the .cpp files that changed since BASE, and those whose own header did
# BASE defaults to where this branch left main, or to the previous commit on main. At most LINT_LIMIT files (24).
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup_debian.sh lint

every_source() { git ls-files --cached --others --exclude-standard -- '*.cpp' ':!tests/package/outside'; }

default_base() {
  local main base
  for main in origin/main main; do
    base=$(git merge-base HEAD "$main" 2>/dev/null) || continue
    if [ "$base" != "$(git rev-parse HEAD)" ]; then echo "$base"; return; fi
  done
  git rev-parse --verify --quiet HEAD~1 || git hash-object -t tree /dev/null  # the first commit: everything
}

changed_sources() {
  { git diff --name-only --diff-filter=d "$1" -- '*.cpp' '*.h'; git ls-files --others --exclude-standard -- '*.cpp' '*.h'; } |
    sed -E 's/\.h$/.cpp/' | sort -u
}

if [ "${1:-}" = --changed ]; then
  base=${2:-$(default_base)}
  mapfile -t files < <(comm -12 <(changed_sources "$base") <(every_source | sort -u))
  limit=${LINT_LIMIT:-24}
  echo "lint: ${#files[@]} files changed since ${base:0:12}"
  if [ "${#files[@]}" -gt "$limit" ]; then
    echo "lint: only the first $limit of them; 'make lint' reads all"
    files=("${files[@]:0:$limit}")
  fi
else
  mapfile -t files < <(every_source)
  echo "lint: ${#files[@]} files"
fi
[ "${#files[@]}" -gt 0 ] || exit 0

log=$(mktemp)
trap 'rm -f "$log"' EXIT
cmake --preset lint >"$log" 2>&1 || { cat "$log"; exit 3; }
existing=()
for file in "${files[@]}"; do
  if grep -q "\"file\": \".*/$file\"" build/lint/compile_commands.json; then
    existing+=("$file")
  elif [ -f "$file" ]; then
    echo "lint: $file is not part of the lint build (MPI is off there, and Qt where it is missing)"
  fi
done
[ "${#existing[@]}" -gt 0 ] || exit 0
printf '%s\0' "${existing[@]}" |
  xargs -0 -n 1 -P "${JOBS:-$(nproc)}" clang-tidy -p build/lint --quiet --warnings-as-errors='*' 2>"$log" ||
  { grep -vE '^[0-9]+ warnings? (generated|treated)' "$log" || true; echo "lint: findings above" >&2; exit 1; }
echo "lint: nothing found"
