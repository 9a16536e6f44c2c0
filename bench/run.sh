#!/bin/sh
# Runs the comparison and prints its table. `bench/run.sh -quick` takes about 50 s, without it about 5 minutes; README.md has the other flags.
set -eu
cd "$(dirname "$0")"
exec go run ./cmd/compare "$@"
