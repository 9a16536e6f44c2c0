#!/bin/sh
# Runs the comparison and prints its table. `bench/run.sh -quick` takes less than 40 s, without it less than 4 minutes.
set -eu
cd "$(dirname "$0")"
exec go run ./cmd/compare "$@"
