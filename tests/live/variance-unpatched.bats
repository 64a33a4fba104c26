#!/usr/bin/env bats
# culprit variance on functions that cannot be patched: by uprobes, as far as the budget goes.

load variance.bash
load wait.bash

setup() {
	[ "$(uname -m)" = x86_64 ] || skip "functions are watched on x86-64 only"
	[ "$(id -u)" = 0 ] || skip "needs root"
	cd "$BATS_TEST_TMPDIR" || return 1
	PROGRAM="$BUILD/tests/variance/variance-unpatched"
	RUNNING=
}

teardown() {
	[ -z "$RUNNING" ] || kill -9 "$RUNNING" 2>/dev/null || true
}

# (Rounds without end: who has seen enough ends the program that it has started, which then says nothing of itself.)
@test "a function that cannot be patched is watched by uprobes" {
	# where it has to wait for a processor is not told of it, but of the interval: shares are compared on a machine that is idle
	[ "$LIVE" = all ] || skip "slow: make test-live"
	TRUTH=truth.csv timeout -s KILL 900 "$CULPRIT" variance --json -o run.culprit --rounds 99 --for 600s --interval process_order -- "$PROGRAM" 6 >factors.json 2>said 3>&- 4>&-
	cat said
	grep -q '"by_uprobe":"price"' factors.json || skip "no uprobes here"
	agrees 5
}

@test "one that is called all the time is left alone, and the program is as it was" {
	"$PROGRAM" 1200 3>&- 4>&- &
	RUNNING=$!
	wait_runs "$RUNNING" "$PROGRAM"
	timeout -s KILL 900 "$CULPRIT" variance --json --no-run --for 4s --interval process_order --root count -p "$RUNNING" >factors.json 2>said 3>&- 4>&-
	cat said
	grep -q '"left_alone":"count"' factors.json
	kill -0 "$RUNNING"
	python3 "$ROOT/tests/live/variance_unpatched.py" "$RUNNING"
}
