#!/usr/bin/env bats
# Queries of places that are watched from outside: system calls, and functions that cannot be patched. The program counts
# what it does for whom, and the query tells the same.

bats_require_minimum_version 1.5.0
load wait.bash

setup() {
	[ "$(uname -m)" = x86_64 ] || skip "functions are watched on x86-64 only"
	[ "$(id -u)" = 0 ] || skip "needs root"
	clerk=$BUILD/tests/unit/clerk
	[ -x "$clerk" ] || skip "needs the probe"
	dir=$BATS_TEST_TMPDIR
	clerking='' asking=''
	cat >"$dir/clerk.tp" <<-'TP'
		tracepoint Clerk.begin at function clerk!clerk_begin entry begins a request
			export client = arg0:text
		tracepoint Clerk.hop at function clerk!clerk_hop exit
			export a = arg0, b = arg1, product = return, took = duration
		tracepoint Clerk.write at syscall write entry
			export fd = arg0:i32, bytes = arg2
	TP
}

teardown() {
	[ -z "$asking" ] || kill -9 "$asking" 2>/dev/null || true
	[ -z "$clerking" ] || kill -9 "$clerking" 2>/dev/null || true
}

# serve THREADS REQUESTS: the program runs, and has its libraries
serve() {
	"$clerk" "$dir" "$@" >"$dir/truth" 3>&- 4>&- &
	clerking=$!
	wait_until test -e "$dir/of.-1"
}

# heard: the query has told something, or has ended
heard() {
	grep -q warm "$dir/told" || ! kill -0 "$asking"
}

# ask QUERY: runs the program, the query is heard before the work begins, and both have ended afterwards
ask() {
	serve 3 400
	timeout -s KILL 1300 "$CULPRIT" query --live --pid "$clerking" --tracepoints "$dir/clerk.tp" --tracepoints linux --for 1200s --json "$1" \
		>"$dir/told" 2>"$dir/said" 3>&- 4>&- &
	asking=$!
	wait_until heard || true
	cat "$dir/said"
	if grep -q 'takes eBPF' "$dir/said"; then skip "no eBPF here"; fi
	grep -q warm "$dir/told"
	kill -USR1 "$clerking"
	wait "$clerking"
	clerking=
	wait "$asking"
	asking=
	cat "$dir/said"
}

# same COLUMN NAME...: of each client, the truth in these columns is what was told by these names; and nothing was lost
same() {
	python3 - "$dir/truth" "$dir/told" "$@" <<-'PY'
		import json, sys
		path, told_path, *pairs = sys.argv[1:]
		columns, names = [int(c) for c in pairs[::2]], pairs[1::2]
		truth = {f[0]: [int(f[c]) for c in columns] for f in map(str.split, open(path))}
		told, losses = {}, {}
		for row in map(json.loads, open(told_path)):
		    losses.update(row.get("losses", {}))
		    if "time" in row and row["r.client"] in truth:
		        was = told.get(row["r.client"], [0] * len(names))
		        told[row["r.client"]] = [a + row[n] for a, n in zip(was, names)]
		assert len(truth) == 4 and all(v[0] > 100 for v in truth.values()), truth
		assert told == truth, (told, truth, losses)
		assert "passes_dropped" not in losses and "bags_unread" not in losses, losses
	PY
}

@test "writes belong to the request that wrote them, in threads and children too" {
	ask 'From w In Linux.write Join r In First(Clerk.begin) On r -> w GroupBy r.client Select r.client, COUNT As n, SUM(w.result) As bytes, MIN(w.took) As least'
	same 1 n 2 bytes
}

@test "what is put on the disk belongs to the request that waits for it" {
	ask 'From s In Linux.fsync Join r In First(Clerk.begin) On r -> s Where s.result = 0 GroupBy r.client Select r.client, COUNT As n, MAX(s.took) As most'
	same 3 n
	run ! grep -q '"most":0[,}]' "$dir/told"
}

@test "a system call is seen where it begins, with its arguments" {
	ask 'From w In Clerk.write Join r In MostRecent(Clerk.begin) On r -> w Where w.fd > 2 GroupBy r.client Select r.client, COUNT As n, SUM(w.bytes) As bytes'
	same 1 n 2 bytes
}

@test "what a system call packs is refused with the reason" {
	serve 1 1
	run timeout -s KILL 180 "$CULPRIT" query --live --pid "$clerking" --tracepoints "$dir/clerk.tp" --for 2s 'From b In Clerk.begin Join w In First(Clerk.write) On w -> b Select COUNT'
	[ "$status" = 2 ]
	[[ "$output" == *"watched from outside"* ]]
}

@test "a function that cannot be patched is watched from outside" {
	ask 'From h In Clerk.hop Join r In First(Clerk.begin) On r -> h Where h.a * h.b = h.product GroupBy r.client Select r.client, COUNT As n, SUM(h.product) As sum, MIN(h.took) As least'
	grep -q 'cannot be patched: .*; it is watched from outside' "$dir/said"
	same 4 n 5 sum
	run ! grep -q '"least":0[,}]' "$dir/told"
	run "$CULPRIT" tracepoints "$dir/clerk.tp" --program "$clerk"
	[[ "$output" == *Clerk.hop*"yes, from outside"* ]]
}
