#!/usr/bin/env bats
# culprit variance on programs that measure their own variance (tests/variance/programs): each share within 3 points.

load variance.bash

setup() {
	[ "$(uname -m)" = x86_64 ] || skip "functions are watched on x86-64 only"
	[ "$(id -u)" = 0 ] || skip "needs root"
	cd "$BATS_TEST_TMPDIR" || return 1
}

# variance SECONDS PROGRAM OPTION...: watches the program, and compares. With sanitizers our own work is several times as
# much: a budget for that, so that there are intervals enough.
# (Rounds without end: who has seen enough ends the program that it has started, which then says nothing of itself.)
variance() {
	local seconds=$1 program=$2
	shift 2
	TRUTH=truth.csv timeout -s KILL 900 "$CULPRIT" variance --json -o run.culprit --overhead 30% --rounds 99 --for 600s "$@" -- "$BUILD/tests/variance/variance-$program" "$seconds" \
		>factors.json 2>said || { cat said; return 1; }
	agrees || { cat said; return 1; }
}

slow() {
	[ "$LIVE" = all ] || skip "slow: make test-live"
}

@test "a function with two speeds" {
	variance 6 bimodal --interval process_order
}

@test "a lock" {
	variance 6 locks --interval process_order
}

@test "functions that are called by pointers are found where the interval waits" {
	variance 8 indirect --interval process_order
}

@test "a queue between threads" {
	variance 6 queue --interval 'order_begin(id=arg0) .. order_end(id=arg0)' --put 'enqueue(id=arg0)' --carry 'order_work(id=arg0)'
}

@test "a worker that an interval waits for" {
	slow
	variance 6 handoff --interval 'process_order(id=arg0)' --carry 'quote(id=arg0)'
}

@test "an answer through a pipe" {
	slow
	variance 6 io --interval process_order
}

@test "processes that are forked" {
	slow
	variance 6 forks --interval process_order
}

@test "exceptions" {
	slow
	variance 6 throws --interval process_order
}

@test "two hundred threads" {
	slow
	variance 6 many --interval process_order
}

@test "a function four levels below is found round by round" {
	slow
	variance 12 nested --interval process_order
}

@test "the run of a live variance tells what was told live" {
	local bin="$BUILD/tests/variance/variance-handoff"

	TRUTH=truth.csv timeout -s KILL 900 "$CULPRIT" variance --json -o run.culprit --interval 'process_order(id=arg0)' --carry 'quote(id=arg0)' -- "$bin" 5 >live.json 2>said ||
		{ cat said; return 1; }
	"$CULPRIT" variance run.culprit --json >run.json
	python3 - <<'END'
import json
def factors(path):
    return {tuple(r["factor"]): r["share"] for r in map(json.loads, open(path)) if "factor" in r}
live, run = factors("live.json"), factors("run.json")
assert live.keys() == run.keys() and all(abs(live[f] - run[f]) < 1e-9 for f in live), (live, run)
END
}
