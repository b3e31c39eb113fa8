#!/usr/bin/env bash
# Installs build/plumbline_*.deb, unpacks build-archive/plumbline-*.tar.gz and installs build/plumbline-*.whl in a bare root of
# the Debian that built them, and asks each the same question: one answer, no compiler, no leftovers.
# Usage: .ci/packages.sh     after `make deb package wheel`; as root; KEEP=yes leaves the folder
# shellcheck disable=SC2016  # another shell expands what stands in single quotes
set -euo pipefail
cd "$(dirname "$0")/.."

skip() { echo "packages: skipped: $1"; exit 0; }
fail() { echo "packages: $1" >&2; exit 1; }

command -v mmdebstrap >/dev/null || skip "mmdebstrap is not installed, which makes the bare root"
[ "$(id -u)" -eq 0 ] || skip "only root can enter a bare root"
shopt -s nullglob
packed=(build/plumbline_*.deb build-archive/plumbline-*.tar.gz build/plumbline-*.whl)
[ "${#packed[@]}" -eq 3 ] || fail "there are ${#packed[@]} of three packages: ${packed[*]:-none}; make deb package wheel makes them"
suite=$(. /etc/os-release && echo "$VERSION_CODENAME")

folder=$(mktemp -d)
chmod 755 "$folder"  # apt downloads as a user of its own
root=$folder/root
if [ -n "${KEEP:-}" ]; then echo "packages: keeps $folder"; else trap 'rm -rf --one-file-system "$folder"' EXIT; fi

mirror=
while read -r uri; do
  timeout 60 /usr/lib/apt/apt-helper -o Acquire::Retries=0 -o Acquire::http::Timeout=10 -o Acquire::https::Timeout=10 \
    download-file "${uri}dists/$suite/InRelease" "$folder/InRelease" >/dev/null 2>&1 || continue
  mirror=$uri
  break
done < <(apt-get indextargets --no-release-info --format '$(REPO_URI)' 2>/dev/null | sort -u)
[ -n "$mirror" ] || skip "none of this machine's apt sources that can be reached has $suite"

echo "packages: making a bare root of $suite"
apt-config dump | grep -E '^Acquire::(https?::|Check-|Retries)' >"$folder/apt.conf" || true
mmdebstrap --quiet --variant=minbase --aptopt="$folder/apt.conf" --include=ca-certificates,python3,python3-venv,man-db,bash-completion,zsh \
  "$suite" "$root" "deb $mirror $suite main"
cp "${packed[@]}" "$root/root/"
inside() {
  unshare --mount sh -c 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"' "$root" \
    env -i --chdir=/root HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
}
question=(search --model llama-3-8b --machine dgx-h100 --gpus 8 --global-batch 64 --top 2 --json)

inside sh -c 'apt-get update -qq && apt-get install -y -qq --no-install-recommends /root/plumbline_*.deb >/dev/null 2>&1' ||
  fail "apt-get does not install the .deb"
inside plan --version
inside plan "${question[@]}" >"$folder/deb.json"
inside man -w plan-search >/dev/null || fail "man finds no page of plan search"
inside bash -c '. /usr/share/bash-completion/bash_completion; _completion_loader plan; complete -p plan' >/dev/null ||
  fail "bash completes nothing of plan"
inside zsh -fc 'autoload -Uz compinit; compinit -u; [ -n "$_comps[plan]" ]' || fail "zsh completes nothing of plan"
inside apt-get remove -y -qq plumbline >/dev/null 2>&1
inside sh -c 'test ! -e /usr/bin/plan && test ! -e /usr/share/plumbline' || fail "the .deb leaves files behind"

inside sh -c 'mkdir archive && tar xf plumbline-*.tar.gz -C archive'
inside sh -c 'exec "$(find "$PWD/archive" -path "*/bin/plan")" "$@"' plan "${question[@]}" >"$folder/archive.json"

inside sh -c 'python3 -m venv venv && venv/bin/pip install --quiet --no-index plumbline-*.whl'
inside venv/bin/python -c 'import sys, plumbline
sys.stdout.write(plumbline.search(model="llama-3-8b", machine="dgx-h100", gpus=8, global_batch=64, top=2).to_json())' >"$folder/wheel.json"

for kind in archive wheel; do
  cmp "$folder/deb.json" "$folder/$kind.json" || fail "the $kind answers otherwise than the .deb"
done
echo "packages: .deb, archive and wheel are installed in a bare $suite and answer with the same bytes"
