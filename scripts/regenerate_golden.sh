#!/usr/bin/env bash
# Writes the golden files of the tests anew from the release build; look at the diff before committing.
set -euo pipefail
cd "$(dirname "$0")/.."
PLUMBLINE_REGENERATE=1 build/bin/golden_tests || true # it fails wherever it wrote something new
build/bin/golden_tests
python3 tests/golden/cli/run_transcripts.py build/bin/plan tests/golden/cli --regenerate
python3 tests/golden/pages/run_pages.py build/bin/plan docs/tutorials docs/peers.md --regenerate
git --no-pager diff --stat -- tests/golden docs/frameworks.md docs/stacks.md docs/glossary.md docs/numbers.md docs/rows.md docs/tutorials models/schemas
