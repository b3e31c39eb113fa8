#!/usr/bin/env bash
# Builds `plan` and one test program from HEAD in a bare root of another Debian, with its compiler, CMake and libraries,
# where no warning may show, and compares the answer to README's question byte for byte with that of this machine.
# Usage: .ci/distributions.sh [suite]     suite: trixie (Debian 13). As root; KEEP=yes leaves the folder; JOBS: processors.
# shellcheck disable=SC2016  # others expand what stands in single quotes: apt, make, another shell
set -euo pipefail
cd "$(dirname "$0")/.."
suite=${1:-trixie}
test_program=golden_tests
jobs=${JOBS:-$(nproc)}

skip() { echo "distributions: skipped: $1"; exit 0; }
fail() { echo "distributions: $1" >&2; exit 1; }

command -v mmdebstrap >/dev/null || skip "mmdebstrap is not installed, which makes the bare root"
[ "$(id -u)" -eq 0 ] || skip "only root can enter a bare root"

folder=$(mktemp -d)
chmod 755 "$folder"  # apt downloads as a user of its own
root=$folder/root
said=$folder/said.txt
if [ -n "${KEEP:-}" ]; then echo "distributions: keeps $folder"; else trap 'rm -rf --one-file-system "$folder"' EXIT; fi

# The first of this machine's own sources that has the suite too. apt downloads it, through the proxies that it knows of.
find_mirror() {
  local uri
  for uri in $(apt-get indextargets --no-release-info --format '$(REPO_URI)' 2>/dev/null | sort -u); do
    timeout 60 /usr/lib/apt/apt-helper -o Acquire::Retries=0 -o Acquire::http::Timeout=10 -o Acquire::https::Timeout=10 \
      download-file "${uri}dists/$suite/InRelease" "$folder/InRelease" >/dev/null 2>&1 || continue
    if grep -qx 'Label: Debian' "$folder/InRelease"; then echo "$uri"; return; fi
  done
}

# Each command has its own /proc, which goes with it: nothing stays mounted.
environment=(HOME=/root LANG=C.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin)
inside() {
  unshare --mount sh -c 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"' \
    "$root" env -i --chdir=/plumbline "${environment[@]}" "$@"
}
heard() { inside "$@" 2>&1 | tee -a "$said"; }

mirror=$(find_mirror)
[ -n "$mirror" ] || skip "none of this machine's apt sources that can be reached has $suite"

echo "distributions: making a bare root of $suite"
apt-config dump | grep -E '^Acquire::(https?::|Check-|Retries)' >"$folder/apt.conf" || true
bare=(--quiet --variant=minbase --aptopt="$folder/apt.conf")
case "$mirror" in https:*) bare+=(--include=ca-certificates) ;; esac
mmdebstrap "${bare[@]}" "$suite" "$root" "deb $mirror $suite main"
git clone --quiet --depth 1 "file://$PWD" "$root/plumbline"

heard scripts/setup_debian.sh python
[ "$(inside scripts/setup_debian.sh python)" = "setup: nothing is missing" ] || fail "setup_debian.sh installs again what is there"
heard cmake --preset release -DPLUMBLINE_WERROR=ON
heard nice cmake --build --preset release --target plan "$test_program" --parallel "$jobs" -- -k 0
if grep -nE 'warning:|CMake ([A-Za-z]+ )?Warning|command not found' "$said"; then fail "these warnings must go"; fi
inside "build/bin/$test_program"

cmake --preset release
nice cmake --build --preset release --target plan --parallel "$jobs"
read -ra question <<<"$(make -s --eval='question: ; @echo $(DEMO)' question)"
mkdir "$folder/here"
env -i --chdir="$folder/here" "${environment[@]}" HOME="$folder/here" "$PWD/${question[0]}" "${question[@]:1}" >"$folder/here/answer.txt"
inside "${question[@]}" >"$root/plumbline/answer.txt"
for file in answer.txt plan.json; do
  diff "$folder/here/$file" "$root/plumbline/$file" || fail "$file differs: < here, > in $suite"
done

name=$(inside sh -c '. /etc/os-release; echo "$PRETTY_NAME, g++ $(g++ -dumpfullversion), $(cmake --version | head -n 1)"')
echo "distributions: $name: no warning, $test_program pass, and the same bytes answer README's question"
