#!/usr/bin/env bash
# Formats every C++ and CUDA source with clang-format, or with --check fails where it would change something.
# The layout is that of clang-format 14; with another version --check only reports, because versions disagree.
set -euo pipefail
cd "$(dirname "$0")/.."

formatter=$(command -v clang-format-14 || command -v clang-format) || {
  echo "format: clang-format is missing; scripts/setup_debian.sh lint installs it" >&2
  exit 3
}
mapfile -t sources < <(git ls-files --cached --others --exclude-standard -- '*.h' '*.cpp' '*.cu' '*.cuh' |
  while read -r file; do [ -f "$file" ] && echo "$file"; done)

if [ "${1:-}" != --check ]; then
  "$formatter" -i "${sources[@]}"
  exit 0
fi
if "$formatter" --dry-run --Werror "${sources[@]}"; then
  echo "format: ${#sources[@]} files are as clang-format writes them"
elif "$formatter" --version | grep -q 'version 14\.'; then
  echo "format: run 'make format'" >&2
  exit 1
else
  echo "format: differences are not held against you: this is $("$formatter" --version), not version 14" >&2
fi
