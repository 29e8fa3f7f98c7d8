# The commands of the house. `make help` lists them.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

TOOLS := .build/tools
SWIFT_FLAGS := --explicit-target-dependency-import-check error
RELEASE := $(SWIFT_FLAGS) -c release --static-swift-stdlib
SOURCES := Package.swift Sources Tests
WITH_TOOLS := PATH="$$PWD/$(TOOLS)/usr/bin:$$PWD/$(TOOLS)/usr/sbin:$$PATH"

# Debian packages: what a bare Swift toolchain stands on, what the host is built with, and what
# only tests need.
TOOLCHAIN := binutils g++ libc6-dev libncurses6 libxml2 libcurl4 tzdata
LIBRARIES := libsqlite3-dev libmicrohttpd-dev libcurl4-openssl-dev libwebsockets-dev \
	libsimdjson-dev zlib1g-dev libssl-dev libargon2-dev libprotobuf-c-dev \
	ca-certificates
TEST_PACKAGES := protobuf-c-compiler curl openssl jsonnet
# Clients and watchers that are not written in Swift.
crowd figures fuzz-Host interop outage page runbook: TEST_PACKAGES += python3 python3-venv

.PHONY: help
help: ## Lists the commands.
	@grep -hE '^[a-z-]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 12

.PHONY: demo
demo: setup ## Sets everything up, builds in release and starts a host with a demo account.
	@echo "== Building in release"
	swift build $(RELEASE) --product holdfast
	.build/release/holdfast demo

.PHONY: ground-floor
ground-floor: setup ## Channels, group commit, server and client at work for a few seconds.
	swift build $(RELEASE) --product ground-floor
	.build/release/ground-floor

.PHONY: test
# Not in parallel: the tests of deadlines are real, and want a free processor.
test: setup tools lint proof ## Sets everything up, then lint, worlds in which anything may go wrong, and all tests.
	@echo "== Tests"
	@$(WITH_TOOLS) swift test $(SWIFT_FLAGS) --no-parallel 2>&1 | tee .build/tests.log \
		|| { echo "== What failed"; grep -E '^(✘|↳|.*error:)' .build/tests.log; exit 1; }

.PHONY: build
build: setup ## Builds the host in release.
	swift build $(RELEASE) --product holdfast

.PHONY: lint
lint: ## Format, and how long files and functions are.
	@echo "== Format"
	swift format lint --strict --parallel --recursive $(SOURCES)
	@find Sources -name '*.swift' | sort | xargs awk -f Tests/TidyTests/ratchets.awk

.PHONY: bench
bench: setup bench-tools ## What things cost, beside their ceilings. BENCH="NAME..." for some of them.
	@echo "== Building the benchmarks in release"
	swift build $(SWIFT_FLAGS) -c release --product benchmarks
	$(WITH_TOOLS) .build/release/benchmarks $(BENCH)

.PHONY: crash
crash: setup ## The store in the long run: 300 kills, 10,000 power cuts, 400,000 damaged records.
	HOLDFAST_KILL_ROUNDS=300 HOLDFAST_POWER_CUTS=10000 HOLDFAST_FUZZ_ROUNDS=400000 \
		swift test $(SWIFT_FLAGS) --filter 'KillTests|DiskFaultTests|RecordFuzzTests'

SEEDS ?= 1000
START ?= 1
STEPS ?= 60
DEEDS ?= 3

.PHONY: simulate
simulate: setup ## Worlds in which anything may go wrong: SEEDS=1000 of them from START=1 on, STEPS=60 each.
	swift build $(RELEASE) --product holdfast
	.build/release/holdfast simulate --seeds $(SEEDS) --start $(START) --steps $(STEPS)

WORLDS ?= 600

# Some minutes of what `simulate` and `deaths` do at length.
.PHONY: proof
proof: setup ## Worlds that failed once, a death at each place of every script of two deeds, and WORLDS=600 others.
	@echo "== Building the host in release"
	swift build $(RELEASE) --product holdfast
	@echo "== Worlds that have failed once"
	.build/release/holdfast simulate --corpus Tests/SimulationTests/Corpus.txt
	@echo "== Scripts of two deeds, with a death at each place"
	.build/release/holdfast simulate --deaths 2
	@echo "== Worlds in which anything may go wrong"
	.build/release/holdfast simulate --seeds $(WORLDS) --steps $(STEPS) | grep -v '^seed '

.PHONY: deaths
deaths: setup ## Every script of up to DEEDS=3 deeds, with a death at each place of it; from script START=1 on.
	swift build $(RELEASE) --product holdfast
	.build/release/holdfast simulate --deaths $(DEEDS) --start $(START)

.PHONY: determinism
determinism: setup ## The same hundred histories from a debug and from a release build.
	swift build $(SWIFT_FLAGS) --product holdfast
	.build/debug/holdfast simulate --seeds 100 > .build/debug/histories.txt
	swift build $(RELEASE) --product holdfast
	.build/release/holdfast simulate --seeds 100 > .build/release/histories.txt
	cmp .build/debug/histories.txt .build/release/histories.txt

.PHONY: mutants
mutants: setup ## Breaks the program in one place after the other; each has to be noticed.
	HOLDFAST_MUTANTS=1 swift build $(RELEASE) --product holdfast --scratch-path .build/mutants
	.build/mutants/release/holdfast simulate --mutant all --seeds 4000

.PHONY: crowd
crowd: setup ## Server and host among their clients: 10,000 that rest, 2,000 that leave at random.
	HOLDFAST_LONG=1 swift test $(SWIFT_FLAGS) --filter ServerAbuseTests
	swift build $(RELEASE) --product holdfast
	rm -rf .build/crowd
	python3 Tests/Interop/crowd.py .build/release/holdfast .build/crowd

.PHONY: interop
interop: setup ## Clients that nobody here wrote (Python's own crypto, rbw), and ours, at the embedded upstream.
	@echo "== Building the host in release"
	swift build $(RELEASE) --product holdfast
	swift build $(RELEASE) --product interop-client
	Tests/Interop/run.sh .build/release/holdfast .build/release/interop-client .build/interop

.PHONY: dashboards
dashboards: setup tools ## Boards, rules and the list of metrics anew, held against a running host.
	swift build $(SWIFT_FLAGS) --product holdfast
	@mkdir -p .build/dashboards
	Dashboards/page.sh .build/debug/holdfast .build/dashboards/page
	$(WITH_TOOLS) WRITE=1 Dashboards/check.sh .build/dashboards/page .build/dashboards/work

.PHONY: interop-venv
interop-venv: setup
	@[ -x .build/interop/venv/bin/python ] || { python3 -m venv .build/interop/venv \
		&& .build/interop/venv/bin/pip -q install cryptography; }

.PHONY: figures
figures: setup bench-tools interop-venv ## The host beside nginx, rbw and a bare fsync: requests, start, memory, offline edits.
	@echo "== Building the host in release"
	swift build $(RELEASE) --product holdfast
	rm -rf .build/figures
	$(WITH_TOOLS) .build/interop/venv/bin/python Tests/Interop/host_figures.py .build/release/holdfast .build/figures \
		.build/interop/sid

.PHONY: page
page: setup ## The status page in a real browser (Debian's chromium has to be there); pictures in .build/page.
	@command -v chromium > /dev/null || { echo "SKIPPED: chromium is not installed" >&2; exit 0; }; \
	swift build $(RELEASE) --product holdfast; \
	[ -x .build/interop/venv/bin/python ] || python3 -m venv .build/interop/venv; \
	.build/interop/venv/bin/pip -q install cryptography playwright; \
	rm -rf .build/page; \
	.build/interop/venv/bin/python Tests/Interop/page.py .build/release/holdfast .build/page

.PHONY: outage
outage: setup tools ## A real Prometheus watches a real host through an outage, and draws it.
	@echo "== Building the host in release"
	swift build $(RELEASE) --product holdfast
	rm -rf .build/outage
	$(WITH_TOOLS) python3 Tests/Outage/outage.py .build/release/holdfast .build/outage Docs/outage.svg

.PHONY: runbook
runbook: setup tools $(TOOLS)/sysstat $(TOOLS)/smartmontools interop-venv ## Tries each page of the runbook: its alert fires, its commands work, the alert clears.
	@echo "== Building the host in release"
	swift build $(RELEASE) --product holdfast
	rm -rf .build/runbook
	$(WITH_TOOLS) .build/interop/venv/bin/python Tests/Outage/runbook.py .build/release/holdfast .build/runbook

.PHONY: deb
deb: TEST_PACKAGES += dpkg-dev
deb: build ## A Debian package of the host, in .build/deb.
	packaging/deb.sh .build/release/holdfast .build/deb

.PHONY: records
records: setup ## Makes the C of the records anew from proto/.
	protoc-c --proto_path=proto --c_out=Sources/C/CRecords records.proto
	mv Sources/C/CRecords/records.pb-c.h Sources/C/CRecords/include/

.PHONY: sanitize
sanitize: setup tools ## All tests under the thread sanitizer, then under the address sanitizer.
	@echo "== Thread sanitizer"
	$(WITH_TOOLS) swift test $(SWIFT_FLAGS) --sanitize=thread -Xswiftc -DTHREAD_SANITIZER --no-parallel --scratch-path .build/thread
	@echo "== Address sanitizer"
	@# The programs that tests start find no path in their surroundings.
	@toolchain=$$(dirname "$$(readlink -f "$$(command -v swift)")"); \
	ASAN_OPTIONS=external_symbolizer_path="$$toolchain/llvm-symbolizer" \
	LSAN_OPTIONS=suppressions=$$PWD/Tests/leaks.txt $(WITH_TOOLS) swift test $(SWIFT_FLAGS) --sanitize=address -Xswiftc -DADDRESS_SANITIZER --no-parallel --scratch-path .build/address

.PHONY: coverage
coverage: setup tools ## Which lines the tests reach.
	$(WITH_TOOLS) swift test $(SWIFT_FLAGS) --enable-code-coverage --no-parallel --scratch-path .build/coverage
	@toolchain=$$(dirname "$$(readlink -f "$$(command -v swift)")"); cd .build/coverage/debug; \
	"$$toolchain/llvm-cov" report holdfastPackageTests.xctest -instr-profile codecov/default.profdata \
		-ignore-filename-regex='Tests/|\.build/'

FUZZERS := $(patsubst Tests/Fuzz/%/,%,$(filter-out %/Properties/,$(wildcard Tests/Fuzz/*/))) Host
MINUTES ?= 1
SECONDS ?= $(shell expr $(MINUTES) \* 60)

.PHONY: fuzz
fuzz: $(FUZZERS:%=fuzz-%) ## Hostile input for the readers and for a host; MINUTES=1 for each, FUZZERS="..." for some.

# Requests of all kinds to a host with a vault; SEED=1 for others.
SEED ?= 1
.PHONY: fuzz-Host
fuzz-Host: setup interop-venv
	@echo "== Fuzzing a host for $(SECONDS) s"
	swift build $(RELEASE) --product holdfast
	rm -rf .build/fuzz/host
	.build/interop/venv/bin/python Tests/Interop/host_fuzz.py .build/release/holdfast .build/fuzz/host $(SECONDS) $(SEED)

# What was learnt stays in the corpus; an input that was found stays beside it and is printed.
fuzz-%:
	@echo "== Fuzzing $* for $(SECONDS) s"
	HOLDFAST_FUZZ=1 swift build -c release --scratch-path .build/fuzz --sanitize=address \
		-Xswiftc -sanitize=fuzzer --product Fuzz$*
	@mkdir -p .build/fuzz/corpus/$* .build/fuzz/findings
	.build/fuzz/release/Fuzz$* -max_total_time=$(SECONDS) -rss_limit_mb=2048 -timeout=10 \
		-print_final_stats=1 -artifact_prefix=.build/fuzz/findings/$*- \
		.build/fuzz/corpus/$* $(wildcard Tests/Fuzz/$*/Seeds) $(if $(filter JSON%,$*),Tests/JSONTests/Fixtures) \
		$(if $(filter Record%,$*),Tests/RecordsTests/Fixtures/version-1)

# Installs what is missing and nothing else; asks nothing; needs no network when all is there.
.PHONY: setup
setup:
	@missing=$$(for package in $(TOOLCHAIN) $(LIBRARIES) $(TEST_PACKAGES); do \
		dpkg-query -W -f '$${Status}' "$$package" 2>/dev/null | grep -q 'ok installed' || echo "$$package"; \
	done); \
	if [ -n "$$missing" ]; then \
		echo "== Installing" $$missing; \
		root=$$([ "$$(id -u)" = 0 ] || echo "sudo -n"); \
		$$root env DEBIAN_FRONTEND=noninteractive apt-get -qq update; \
		$$root env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends $$missing; \
	fi

# Unpacked, not installed: the packages of Prometheus and nginx would each start a service.
.PHONY: tools bench-tools
tools: $(TOOLS)/prometheus $(TOOLS)/nginx
bench-tools: tools $(TOOLS)/wrk

# The lists may be missing where all that setup needs was there already.
define download
{ apt-get -qq -o APT::Sandbox::User=root download $(1) 2>/dev/null || { \
	$$([ "$$(id -u)" = 0 ] || echo "sudo -n") apt-get -qq update && apt-get -qq download $(1); }; }
endef

$(TOOLS)/%:
	@echo "== Unpacking $*"
	@mkdir -p $(TOOLS)/packages && cd $(TOOLS)/packages && rm -f $*_*.deb && $(call download,$*) \
		&& dpkg -x $*_*.deb .. && touch ../$*
