#!/usr/bin/env bash
# Runs GPU tests under NVIDIA's compute-sanitizer, beside a bundle of them (npm run test:gpu -- --bundle DIR):
#
#   DIR/sanitize.sh                                    memcheck, then racecheck over what uses shared memory
#   DIR/sanitize.sh memcheck [test-gpu.mjs options]
#   DIR/sanitize.sh racecheck [test-gpu.mjs options]
#
# NODE is the Node.js to run (node). Each tool must first find a mistake made on purpose. Tests that make the device fail on
# purpose are left out, as their faults are what the tools report, and so is what must be quick. Exits with 1 when a test fails or a tool finds something.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
node=${NODE:-node}

# In one process, as that is what the tool watches; refusals that the driver reports itself are no findings.
tests() {
  local tool=$1
  shift
  compute-sanitizer --tool "$tool" --report-api-errors no --error-exitcode 9 --print-limit 20 \
    "$node" "$here/test-gpu.mjs" --in-process --patience 20 "$@"
}

check() {
  local tool=$1
  shift
  if tests "$tool" --filter "the sanitizer: $tool" >/tmp/sanitizer-control.log 2>&1; then
    echo "$tool does not find a mistake made on purpose:"
    tail -5 /tmp/sanitizer-control.log
    return 1
  fi
  echo "== $tool $*"
  tests "$tool" --exclude 'faults' --exclude 'endurance' --exclude 'the tour' \
    --exclude 'nvidia streams: disposing' "$@"
}

if [ $# -gt 0 ]; then
  check "$@" || exit 1
else
  status=0
  check memcheck --programs 200 --launched 60 || status=1
  check racecheck --programs 100 --launched 0 --filter 'barriers' --filter 'memory spaces' --filter 'atomics' \
    --filter 'divergence' --filter 'sizes' --filter 'warps' --filter 'random programs' || status=1
  exit $status
fi
