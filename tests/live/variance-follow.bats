#!/usr/bin/env bats
# culprit variance on programs that others start: scripts and supervisors.

# shellcheck disable=SC2030,SC2031  # each test is a subshell of its own

bats_require_minimum_version 1.5.0

load variance.bash
load wait.bash

setup() {
	[ "$(uname -m)" = x86_64 ] || skip "functions are watched on x86-64 only"
	[ "$(id -u)" = 0 ] || skip "needs root"
	cd "$BATS_TEST_TMPDIR" || return 1
	PROGRAM="$BUILD/tests/variance/variance-bimodal"
	LEFT=
}

teardown() {
	LEFT=${LEFT:-$(cat server 2>/dev/null || true)}
	[ -z "$LEFT" ] || kill -9 "$LEFT" 2>/dev/null || true
}

# script TEXT: in ./start
script() {
	printf '#!/bin/sh\n%s\n' "$1" >start
	chmod 755 start
}

# variance OPTION...: runs it, and compares
variance() {
	TRUTH=$PWD/truth.csv timeout -s KILL 900 "$CULPRIT" variance --json -o run.culprit --interval process_order "$@" >factors.json 2>said 3>&- 4>&- ||
		{ cat said; return 1; }
	agrees || { cat said; return 1; }
}

# all_seen: no interval of the program is missing
all_seen() {
	[ "$(($(wc -l <truth.csv) - 1))" = "$(grep -o '"rounds":.*"intervals":[0-9]*' factors.json | grep -o '[0-9]*$')" ]
}

@test "a server that a script starts is watched from its first call on" {
	script "/bin/true; /bin/echo x; $PROGRAM 3; exit 0"
	variance --round 300s --for 600s -- ./start
	all_seen
}

@test "a script that becomes the server" {
	script "exec $PROGRAM 3"
	variance --for 600s -- ./start
}

@test "a script that ends while its server lives on" {
	script "setsid $PROGRAM 3 >/dev/null 2>&1 & exit 0"
	variance --for 600s -- ./start
}

@test "a server that outlives the watch is left alone, and told" {
	script "setsid $PROGRAM 1200 >/dev/null 2>&1 & echo \$! >server; exit 0"
	timeout -s KILL 900 "$CULPRIT" variance --no-run --rounds 1 --interval process_order -- ./start >answer 2>said 3>&- 4>&-
	LEFT=$(cat server)
	grep -q "goes on" said
	kill -0 "$LEFT"
	python3 "$ROOT/tests/live/variance_unpatched.py" "$LEFT"
}

# begun: the number of the program that runs below the process LEFT
begun() {
	local status
	while read -r status; do
		[ ! "${status%status}exe" -ef "$PROGRAM" ] || { basename "${status%/status}"; return 0; }
	done < <(grep -lsx "PPid:.$LEFT" /proc/[0-9]*/status)
	return 1
}

# is_watched NOT: such a program runs, another one than that, and is watched
is_watched() {
	local pid
	pid=$(begun) && [ "$pid" != "$1" ] && is_patched "$pid"
}

# let_each_begin: when it is watched
let_each_begin() {
	local i pid=0
	for i in 1 2 3; do
		wait_until is_watched "$pid" || return
		pid=$(begun)
		touch "go.$i"
	done
}

@test "a supervisor: what it starts is found, and what it starts again" {
	script "for i in 1 2 3; do HOLD=go.\$i TRUTH=truth.\$i $PROGRAM 2 >/dev/null; done"
	./start 3>&- 4>&- &
	LEFT=$!
	wait_until begun
	let_each_begin 3>&- 4>&- &
	timeout -s KILL 900 "$CULPRIT" variance --json --no-run --rounds 1 --round 600s --interval process_order -p "$LEFT" >factors.json 2>said 3>&- 4>&-
	cat said
	seen=$(grep -o '"rounds":.*"intervals":[0-9]*' factors.json | grep -o '[0-9]*$')
	# of the second and third nearly all
	[ "$seen" -gt "$((($(wc -l <truth.2) + $(wc -l <truth.3)) * 80 / 100))" ]
}

@test "a script that starts no such program" {
	script "/bin/true; sleep 0.1; exit 0"
	run -2 timeout -s KILL 900 "$CULPRIT" variance --no-run --interval process_order -- ./start
	[[ "$output" == *"none of 3 programs has it"* ]]
}
