# The commands of this repository. `make demo` and `make test` are all a newcomer needs.

GO ?= go
# One way of compiling, so that all targets share what is compiled, in whatever folder.
export GOFLAGS := $(GOFLAGS) -trimpath
# What agents are in a container is without cgo: so is what tests link, and all that imports package net is compiled once. The race detector needs it.
export CGO_ENABLED := 0
EXAMPLES := $(wildcard examples/*)

PACKAGES ?= ./...
# On a slow or busy machine a package that compiles programs takes longer than the ten minutes that go test waits.
PATIENCE := -timeout 30m
# Tests wait for processes and answers: twice as many packages at a time as there are cores keep the cores busy.
TWICE := -p $(shell expr 2 \* $$(getconf _NPROCESSORS_ONLN))
PLATFORMS := windows/amd64 darwin/arm64 linux/386 linux/arm js/wasm

.PHONY: demo test build generate lint race cross windows peers interop bench figures release release-check seeds kill replicas postgresql page browser fuzz

demo: ## scaffold an agent from a real card, build it, talk to it, kill it and go on
	@$(GO) run ./internal/demo

test: ## the tests that need only Go: this module, then each example as its user would run it (A2A_LONG=1: those that compile dozens of programs, need PostgreSQL or try more, too)
	$(GO) test -vet=off $(TWICE) $(PATIENCE) $(TESTFLAGS) $(PACKAGES)
	@for d in $(EXAMPLES); do echo "== $$d"; (cd $$d && $(GO) test -vet=off $(TESTFLAGS) ./...) || exit 1; done
	@test -n "$$A2A_LONG" || echo "$$(git grep -Ew 'gotool[.]Long[(]t[)]|^\[!long\] skip' -- '*_test.go' '*.txtar' | wc -l) groups of tests that compile dozens of programs, and those on PostgreSQL, were not run: set A2A_LONG=1, as .ci/run does"
	@test -n "$$A2A_SPEC" || echo "$$(git grep -E 'official[.]Folder[(]|[^ ] published[(]t|[(]published[(]t' -- '*_test.go' | wc -l) checks against the official documents were not run: set A2A_SPEC to their folder (internal/test/official says what is in it)"

build: ## bin/a2agen
	$(GO) build -o bin/a2agen ./cmd/a2agen

generate: ## rewrite every generated file in the repository: package a2a, then what the tool that carries it makes
	$(GO) generate ./...
	@$(MAKE) build
	@for d in $(EXAMPLES); do bin/a2agen update protocol -C $$d || exit 1; done

lint: ## formatting and static analysis
	@out=$$(git ls-files '*.go' | xargs gofmt -l); test -z "$$out" || { echo "not gofmt-clean:"; echo "$$out"; exit 1; }
	$(GO) vet ./...
	@for d in $(EXAMPLES); do (cd $$d && $(GO) vet ./...) || exit 1; done
	$(GO) tool staticcheck ./...

# SQLite is C that was translated to Go: it keeps its data in memory of its own, where the detector sees nothing, and
# looking there made its tests take nine times as long. Hashing a password shares nothing, and takes twice as long.
RACE := CGO_ENABLED=1 $(GO) test -race -gcflags=modernc.org/...=-race=false -gcflags=crypto/internal/fips140/...=-race=false -vet=off

race: ## the runtime, but for the store on PostgreSQL (make replicas), and the test kit under the race detector, and without it what it would miscount or make too slow
	$(RACE) $(TWICE) $(PATIENCE) $(TESTFLAGS) $$($(GO) list ./runtime/... ./testkit/... ./internal/sse ./internal/frames ./internal/taskstate | grep -v '/store/postgres$$')
	$(GO) test -vet=off $(TESTFLAGS) -run 'Allocations|LosesNothing|TheirMemory|Survived|IsLimited|WhatItWeighs|KnownEventsEnds' ./runtime/client ./runtime/server ./runtime/server/grpcserver ./testkit/fault

# What is compiled here is vetted and not run. Without inlining it takes a quarter of the time.
cross: ## vet for other systems and for small machines, and test the codecs on 32 bits
	@for p in $(PLATFORMS); do echo "== $$p"; GOOS=$${p%/*} GOARCH=$${p#*/} $(GO) vet -gcflags=-l ./... || exit 1; done
	GOARCH=386 $(GO) test -vet=off $(TESTFLAGS) ./runtime/wire/... ./runtime/gen/...

windows: ## the command and an agent, built for Windows, under wine, which Debian's packages bring
	@command -v wine x86_64-w64-mingw32-gcc >/dev/null || \
	{ test "$$(id -u)" = 0 && apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends wine wine64 gcc-mingw-w64-x86-64-win32; } </dev/null
	A2A_WINE=1 $(GO) test -count=1 -vet=off -v $(TESTFLAGS) ./internal/test/wintest

peers: ## a2agen and the SDKs for Go call each other; a fleet behind nginx on PostgreSQL; traces in OpenTelemetry's own SDK; the contestants of make bench answer alike
	cd interop && A2A_LONG=1 $(GO) test -vet=off $(TESTFLAGS) ./...
	cd bench && $(GO) test -vet=off $(TESTFLAGS) ./...

interop: peers ## those, and implementations in other languages and of other versions, over every binding and version they have (downloads them, into PEERS if that is a folder; WRITE=1 writes docs/interop.md)
	cd interop && $(GO) run ./cmd/matrix $(if $(WRITE),-write) $(if $(PEERS),-keep $(PEERS))
	cd interop && $(GO) run ./cmd/issuers
	cd interop && $(GO) run ./cmd/mcp

bench: ## the comparison table: bare net/http, the peers, a2agen
	bench/run.sh

figures: ## how much is written by hand and how finely it is cut, what a message enters, the types with the most methods, the names that users see, and what agents link (this alone: go run ./internal/measure -linked)
	@$(GO) run ./internal/measure

release: ## dist/: archives, checksums, bill of materials, notes and the module of VERSION (docs/internals/releasing.md); it publishes nothing
	@$(GO) run ./internal/release -check "$(VERSION)"
	$(MAKE) test lint
	$(GO) run ./internal/release "$(VERSION)"

release-check: RELEASE ?= $(or $(wildcard $(CURDIR)/dist),new)
release-check: PLATFORMS_OF_RELEASE ?= linux/amd64
release-check: ## do with dist/ what its users will do, as if nothing else were published; without dist/, with one that is made twice from the last commit
	A2A_RELEASE=$(RELEASE) A2A_PLATFORMS=$(PLATFORMS_OF_RELEASE) $(GO) test -count=1 -vet=off $(PATIENCE) -v -run '^TestRelease$$' ./internal/release

SEEDS ?= 60s
seeds: ## SEEDS of random runs of instances that share a store, and beside them of the two stores, which do the same steps
	@$(MAKE) --no-print-directory -j2 --output-sync=target seeds-of-runs seeds-of-stores

seeds-of-runs:
	A2A_SEEDS=$(SEEDS) $(GO) test -count=1 -vet=off -run '^TestNothingIsLostOrDoubled$$' -v ./runtime/internal/engine

seeds-of-stores:
	A2A_SEEDS=15s $(GO) test -count=1 -vet=off -run '^TestSQLiteIsAStore$$/^Differential$$' -v ./runtime/store/sqlite

kill: KILLS ?= 1000
kill: ## kill an agent under load KILLS times, and see what its clients and webhooks were told; then agents that call agents, a quarter as often (SEED repeats the choices)
	KILLS=$(KILLS) $(GO) test -count=1 -vet=off -v -timeout 2h -run 'Kills$$' ./internal/test/killtest

replicas: FOR ?= 40s
replicas: postgresql ## what needs a PostgreSQL server: three replicas that share one lose nothing FOR so long (FOR=1h; SEED repeats the choices), whatever is done to them, their connections and the server; then all tests of the store under the race detector, with random steps that must do what they do in memory
	A2A_LONG=1 FOR=$(FOR) $(GO) test -count=1 -vet=off -v -timeout 3h ./internal/test/ringtest
	A2A_LONG=1 A2A_SEEDS=2s $(RACE) -count=1 $(PATIENCE) ./runtime/store/postgres

postgresql: # A2A_POSTGRES names another server; Debian's is installed without a cluster of its own, and its pgbouncer is not started
	@test -n "$$A2A_POSTGRES$$A2A_POSTGRES_BIN" || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null || \
	{ test "$$(id -u)" = 0 && command -v apt-get >/dev/null && apt-get update -q && mkdir -p /etc/postgresql-common && \
	  echo 'create_main_cluster = false' >/etc/postgresql-common/createcluster.conf && \
	  DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends -o Dpkg::Options::=--force-confold postgresql; } </dev/null || \
	echo "there is no PostgreSQL, and it cannot be installed here: set A2A_POSTGRES=postgres://… to a server for tests"
	@test -n "$$A2A_PGBOUNCER" || command -v pgbouncer /usr/sbin/pgbouncer >/dev/null || \
	{ test "$$(id -u)" = 0 && command -v apt-get >/dev/null && apt-get update -q && \
	  RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends pgbouncer; } </dev/null || \
	echo "there is no pgbouncer, and it cannot be installed here: nothing is tried through it"

page: browser build ## the page of "a2agen dev" in a real browser (PICTURES=docs/pictures makes the screenshots of the documents)
	cd internal/dev/pagetest && npm ci --no-audit --no-fund --loglevel=error && node_modules/.bin/tsc -p . && \
	A2A_PICTURES="$(if $(PICTURES),$(abspath $(PICTURES)))" node --test --test-concurrency=2 --test-timeout=600000 --test-reporter=spec

browser: # CHROMIUM names another one than /usr/bin/chromium
	@test -x "$${CHROMIUM:-/usr/bin/chromium}" && { command -v node && command -v npm; } >/dev/null || \
	{ test "$$(id -u)" = 0 && command -v apt-get >/dev/null && apt-get update -q && \
	  DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $$(test -x "$${CHROMIUM:-/usr/bin/chromium}" || echo chromium) $$({ command -v node && command -v npm; } >/dev/null || echo nodejs npm); } </dev/null || \
	{ echo "the tests of the page need chromium (CHROMIUM names it), node 20 and npm"; exit 1; }

fuzz: ## ten seconds for every fuzz target
	@$(GO) list ./... | while read p; do \
	  for f in $$($(GO) test -list '^Fuzz' $$p | grep '^Fuzz'); do echo "== $$p $$f"; $(GO) test -run '^$$' -fuzz "^$$f\$$" -fuzztime 10s $$p </dev/null || exit 1; done; done
