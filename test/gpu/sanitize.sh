#!/usr/bin/env bash
# Runs GPU tests under NVIDIA's compute-sanitizer, beside a bundle of them (npm run test:gpu -- --bundle DIR):
#
#   DIR/sanitize.sh                  memcheck over everything small, then racecheck over what uses shared memory
#   DIR/sanitize.sh memcheck [test-gpu.mjs options]
#   DIR/sanitize.sh racecheck [test-gpu.mjs options]
#
# NODE is the Node.js to run (node). Tests that make the device fail on purpose are left out: their faults are what the tools
# report. Exits with 1 when a test fails or a tool finds something.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
node=${NODE:-node}

check() {
  local tool=$1
  shift
  echo "== $tool: $*"
  # In one process, as the tool watches processes; the driver's own answers (such as 'out of memory') are no findings.
  compute-sanitizer --tool "$tool" --report-api-errors no --error-exitcode 9 --print-limit 20 \
    "$node" "$here/test-gpu.mjs" --in-process --patience 20 \
    --exclude 'faults' --exclude 'endurance' --exclude 'the tour' --exclude 'a million' "$@"
}

if [ $# -gt 0 ]; then
  check "$@"
else
  status=0
  check memcheck --programs 100 --launched 40 || status=1
  check racecheck --programs 40 --launched 0 --filter 'barriers' --filter 'memory spaces' --filter 'atomics' \
    --filter 'divergence' --filter 'sizes' --filter 'random programs' || status=1
  exit $status
fi
