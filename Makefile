# The commands of this repository. `make demo` and `make test` are all a newcomer needs.

GO ?= go
# One way of compiling, so that all targets share what is compiled, in whatever folder.
export GOFLAGS := $(GOFLAGS) -trimpath
# What agents are in a container is without cgo: so is what tests link, and all that imports package net is compiled once. The race detector needs it.
export CGO_ENABLED := 0
EXAMPLES := $(wildcard examples/*)

PACKAGES ?= ./...
# How long one package may take before it counts as hanging: three times the longest one on two cores. A busy machine needs more: make test PATIENCE=30m
PATIENCE = 15m
race: PATIENCE = 8m
# Tests wait for processes and answers: twice as many packages at a time as there are cores keep the cores busy.
TWICE := -p $(shell expr 2 \* $$(getconf _NPROCESSORS_ONLN))
PLATFORMS := windows/amd64 darwin/arm64 linux/arm js/wasm

.PHONY: demo test build generate lint race cross windows peers interop bench figures release release-check rename vulnerabilities seeds seeds-and-kills kill replicas postgresql page pictures browser fuzz

demo: ## scaffold an agent from a real card, build it, talk to it, kill it and go on
	@$(GO) run ./internal/demo

test: ## the tests that need only Go: this module, then each example as its user would run it (A2A_LONG=1: those that compile dozens of programs, need PostgreSQL or try more, too)
	$(GO) test -vet=off $(TWICE) -timeout $(PATIENCE) $(TESTFLAGS) $(PACKAGES)
	@printf '%s\n' $(EXAMPLES) | xargs -P 2 -I{} sh -c 'out=$$(cd {} && $(GO) test -vet=off $(TESTFLAGS) ./... 2>&1); failed=$$?; printf "== %s\n%s\n" {} "$$out"; exit $$failed'
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

# The store on PostgreSQL goes first: it takes longest, one test after the other.
race: ## the runtime and the test kit under the race detector (A2A_LONG=1: the store on PostgreSQL too), and without it what it would miscount or make too slow
	$(RACE) $(TWICE) -timeout $(PATIENCE) $(TESTFLAGS) ./runtime/store/postgres ./runtime/... ./testkit/... ./internal/sse ./internal/frames ./internal/taskstate
	$(GO) test -vet=off -timeout $(PATIENCE) $(TESTFLAGS) -run 'Allocations|LosesNothing|TheirMemory|Survived|IsLimited|WhatItWeighs|KnownEventsEnds' ./runtime/client ./runtime/server ./runtime/server/grpcserver ./testkit/fault

# Nothing that is compiled here runs, but for the codecs. Without inlining it takes a quarter of the time. On 32 bits all is vetted. A package can be another one
# on another system only if it has files for one, or calls the system: these packages are vetted there, and all that users link is compiled.
ITS_OWN = $(GO) list -f '{{.ImportPath}} {{if .IgnoredGoFiles}}syscall{{end}} {{join .Imports " "}} {{join .TestImports " "}} {{join .XTestImports " "}} ' ./... | grep ' syscall ' | cut -d' ' -f1
cross: ## vet for 32 bits, vet and compile for other systems what can differ there, and test the codecs on 32 bits
	GOOS=linux GOARCH=386 $(GO) vet -gcflags=-l ./...
	@for p in $(PLATFORMS); do echo "== $$p"; export GOOS=$${p%/*} GOARCH=$${p#*/}; \
	$(GO) build -gcflags=-l ./a2a/... ./runtime/... ./testkit/... ./cmd/... && $(GO) vet -gcflags=-l $$($(ITS_OWN)) || exit 1; done
	GOARCH=386 $(GO) test -vet=off $(TESTFLAGS) ./runtime/wire/... ./runtime/gen/...

windows: ## the command and an agent, built for Windows, under wine, which Debian's packages bring
	@command -v wine x86_64-w64-mingw32-gcc >/dev/null || \
	{ test "$$(id -u)" = 0 && apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends wine wine64 gcc-mingw-w64-x86-64-win32; } </dev/null
	A2A_WINE=1 $(GO) test -count=1 -vet=off -v $(TESTFLAGS) ./internal/test/wintest

peers: ## a2agen and the SDKs for Go call each other; a fleet behind nginx on PostgreSQL; traces in OpenTelemetry's own SDK; the contestants of make bench answer alike
	cd interop && A2A_LONG=1 $(GO) test -vet=off $(TESTFLAGS) ./...
	cd bench && $(GO) test -vet=off $(TESTFLAGS) ./...

interop: peers ## those, and implementations in other languages and of other versions, over every binding and version they have (downloads them, into PEERS if that is a folder; WRITE=1 writes interop/README.md)
	cd interop && $(GO) run ./cmd/matrix $(if $(WRITE),-write) $(if $(PEERS),-keep $(PEERS))
	cd interop && $(GO) run ./cmd/issuers
	cd interop && $(GO) run ./cmd/mcp

bench: ## the comparison table: bare net/http, the peers, a2agen
	bench/run.sh

figures: ## how much is written by hand and how finely it is cut, what a message enters, the types with the most methods, the names that users see, and what agents link (this alone: go run ./internal/measure -linked)
	@$(GO) run ./internal/measure

release: ## dist/: archives, checksums, bill of materials, notes and the module of VERSION (CONTRIBUTING.md, Releasing); it publishes nothing
	@$(GO) run ./internal/release -check "$(VERSION)"
	$(MAKE) test lint
	$(GO) run ./internal/release "$(VERSION)"

release-check: RELEASE ?= $(or $(wildcard $(CURDIR)/dist),new)
release-check: PLATFORMS_OF_RELEASE ?= linux/amd64
release-check: ## do with dist/ what its users will do, as if nothing else were published; without dist/, with one that is made twice from the last commit
	A2A_RELEASE=$(RELEASE) A2A_PLATFORMS=$(PLATFORMS_OF_RELEASE) $(GO) test -count=1 -vet=off -timeout 30m -v -run '^TestRelease$$' ./internal/release

rename: ## give the module the path MODULE, everywhere, in one commit
	@$(GO) run ./internal/rename "$(MODULE)"
	@$(MAKE) generate
	@$(GO) test -vet=off -short ./golden -run '^TestGolden$$' -update >/dev/null
	@git commit -qam "The module is $(MODULE)" && echo "the module is $(MODULE): the last commit says where"

GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.9.0
vulnerabilities: ## known weaknesses in what is linked, by the Go project's database, which it asks over the network (VULNDB names another one); a release checks the licences
	$(GO) run $(GOVULNCHECK) $(if $(VULNDB),-db $(VULNDB)) ./cmd/... ./runtime/... ./testkit/...

SEEDS ?= 60s
EACH ?= 8s
seeds: ## SEEDS (60s) of random runs of instances that share a store, and beside them the stores, which do the same steps, EACH (8s) of five kinds (A2A_LONG=1: PostgreSQL too)
	@$(MAKE) --no-print-directory -j3 --output-sync=target $(ALL_SEEDS)

ALL_SEEDS := seeds-of-runs seeds-of-sqlite seeds-of-postgresql
seeds-of-runs: # on one core
	A2A_SEEDS=$(SEEDS) $(GO) test -count=1 -vet=off -timeout 8m$(SEEDS) -run '^TestNothingIsLostOrDoubled$$' -v ./runtime/internal/engine

seeds-of-sqlite:
	A2A_SEEDS=$(EACH) $(GO) test -count=1 -vet=off -run '^TestSQLiteIsAStore$$/^Differential$$' -v ./runtime/store/sqlite

seeds-of-postgresql:
	A2A_SEEDS=$(EACH) $(GO) test -count=1 -vet=off -run '^TestPostgreSQLIsAStore$$/^Differential$$' -v ./runtime/store/postgres

# Random runs take one core, and kills wait most of the time.
seeds-and-kills: ## make seeds and make kill side by side
	@$(MAKE) --no-print-directory -j4 --output-sync=target $(ALL_SEEDS) kill

kill: KILLS ?= 1000
kill: ## kill an agent under load KILLS times, and see what its clients and webhooks were told; then agents that call agents, a quarter as often (SEED repeats the choices)
	KILLS=$(KILLS) $(GO) test -count=1 -vet=off -v -timeout $$(expr 6 + $(KILLS) / 25)m -run 'Kills$$' ./internal/test/killtest

replicas: FOR ?= 40s
replicas: postgresql ## three replicas that share a PostgreSQL server lose nothing FOR so long (FOR=1h; SEED repeats the choices), whatever is done to them, their connections and the server
	A2A_LONG=1 FOR=$(FOR) $(GO) test -count=1 -vet=off -v -timeout 8m$(FOR) ./internal/test/ringtest

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

page: browser build ## the page of "a2agen dev" in a real browser
	cd internal/dev/pagetest && npm ci --no-audit --no-fund --loglevel=error && node_modules/.bin/tsc -p . && \
	node --test --test-concurrency=3 --test-timeout=600000 --test-reporter=spec

pictures: browser ## renews docs/pictures, which "make page" compares with the page: look at each one before you commit it
	cd internal/dev/pagetest && npm ci --no-audit --no-fund --loglevel=error && A2A_PICTURES=1 node --test --test-timeout=600000 pictures.test.js

browser: # CHROMIUM names another one than /usr/bin/chromium
	@test -x "$${CHROMIUM:-/usr/bin/chromium}" && { command -v node && command -v npm; } >/dev/null || \
	{ test "$$(id -u)" = 0 && command -v apt-get >/dev/null && apt-get update -q && \
	  DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $$(test -x "$${CHROMIUM:-/usr/bin/chromium}" || echo chromium) $$({ command -v node && command -v npm; } >/dev/null || echo nodejs npm); } </dev/null || \
	{ echo "the tests of the page need chromium (CHROMIUM names it), node 20 and npm"; exit 1; }

fuzz: ## ten seconds for every fuzz target
	@$(GO) list ./... | while read p; do \
	  for f in $$($(GO) test -list '^Fuzz' $$p | grep '^Fuzz'); do echo "== $$p $$f"; $(GO) test -run '^$$' -fuzz "^$$f\$$" -fuzztime 10s $$p </dev/null || exit 1; done; done
