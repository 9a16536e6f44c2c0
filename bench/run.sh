#!/bin/sh
# Runs the comparison and prints its table. `bench/run.sh -quick` takes about 70 s, without it about 9 minutes; README.md has the other flags.
set -eu
cd "$(dirname "$0")"
exec go run ./cmd/compare "$@"
