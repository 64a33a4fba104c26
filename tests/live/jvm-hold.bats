#!/usr/bin/env bats
# Java machines that a watched program starts stand still until they are woven: nothing that they do is missed, and nothing of ours holds
# them when we are gone.
load wait.bash

setup() {
	command -v javac >/dev/null || skip "needs a JDK"
	[ "$(id -u)" = 0 ] || skip "needs root: the kernel says what programs begin"
	dir=$BATS_TEST_TMPDIR
	javac --release 11 -d "$dir" "$BATS_TEST_DIRNAME/jvm/Brood.java" "$BATS_TEST_DIRNAME/jvm/Forge.java"
	cat >"$dir/brood.tp" <<-'TP'
		tracepoint Brood.step at class Brood.step entry
			export number = arg0
		tracepoint Forge.piece at class Forge.piece entry
			export number = arg0
	TP
}

teardown() {
	rm -f "$dir/go"
	for p in ${asked:-} ${agent:-} ${hub:-} ${pid:-}; do
		kill -9 "$p" 2>/dev/null || true
	done
}

# start JAVA CLASS ARGUMENTS...
start() {
	rm -f "$dir/go"
	"$1" -XX:+UseSerialGC -cp "$dir" "$2" "$dir/go" "${@:3}" >"$dir/out" 2>"$dir/err" 3>&- &
	pid=$!
	wait_until grep -q ready "$dir/out"
}

# ask QUERY: returns when it is there
ask() {
	"$CULPRIT" query --live --pid "$pid" --tracepoints "$dir/brood.tp" --for 1200s --json "$1" >"$dir/told" 2>"$dir/said" 3>&- &
	asked=$!
	wait_until woven
}

woven() {
	kill -0 "$asked" || { cat "$dir/said"; return 1; }
	has_answered "$pid" "$asked"
}

answer() {
	wait_until grep -q 'done' "$dir/out"
	kill -INT "$asked"
	wait "$asked" || { echo "ended with $?"; cat "$dir/said" "$dir/told"; false; }
	asked=
	rm -f "$dir/go"
	wait "$pid"
	pid=
}

# child_of NAME: the process of that name that the culprit has started
child_of() {
	local p
	for p in $(pgrep -P "$asked"); do
		[ "$(cat "/proc/$p/comm")" != "$1" ] || echo "$p"
	done
}

every_java() {
	local java
	for java in /usr/lib/jvm/*/bin/java; do
		[ -L "$(dirname "$(dirname "$java")")" ] || [ ! -x "$java" ] || echo "$java"
	done
}

# Some at once, so that one waits while another is woven.
@test "no call of a machine is missed, though its first act is to call" {
	for java in $(every_java); do
		echo "$java"
		start "$java" Brood 10 3 100
		ask 'From s In Brood.step GroupBy s.procName Select s.procName, COUNT As n, SUM(s.number) As sum'
		touch "$dir/go"
		answer
		cat "$dir/out" "$dir/told" "$dir/said" "$dir/err"
		grep -q '^steps 1000$' "$dir/out"
		python3 - "$dir/told" <<-'PY'
			import json, sys
			rows = list(map(json.loads, open(sys.argv[1])))
			assert not [r for r in rows if "losses" in r], rows
			assert {r["s.procName"] for r in rows} == {"child"}, rows
			assert sum(r["n"] for r in rows) == 1000 and sum(r["sum"] for r in rows) == 49500, rows
		PY
	done
}

# Us alone, so that those who are left put things right; us with all of those at once.
@test "whoever of us is killed, and whenever, machines go on to their end" {
	for i in 1 2 3 4 5 6 7 8; do
		start java Brood 4 2 100
		ask 'From s In Brood.step Select COUNT As n'
		touch "$dir/go"
		sleep "0.$((RANDOM % 8))$((RANDOM % 10))"
		if [ $((i % 2)) = 0 ]; then
			# shellcheck disable=SC2046 # numbers
			kill -9 "$asked" $(pgrep -P "$asked")
		else
			kill -9 "$asked"
		fi
		wait_until grep -q 'done' "$dir/out"
		cat "$dir/out" "$dir/err"
		grep -q '^steps 400$' "$dir/out"
		rm -f "$dir/go"
		wait "$pid"
		pid=
	done
}

# An agent has got the query.
is_asked() {
	"$CULPRIT" hub --status "ipc://$dir/hub" --json | grep -q '^{"query".*"agents":1,'
}

# (Not beside other tests: their machines are asked as well.)
@test "an agent that watches a host misses nothing of machines that begin later" {
	[ "$LIVE" = all ] || skip "slow: make test-live"
	"$CULPRIT" hub --help 2>&1 | grep -q queries || skip "culprit is built without the bus"
	"$CULPRIT" hub --queries --listen "ipc://$dir/hub" --state "$dir/state" 2>"$dir/hub.err" 3>&- &
	hub=$!
	"$CULPRIT" agent --queries --hub "ipc://$dir/hub" --name here 2>"$dir/agent.err" 3>&- &
	agent=$!
	"$CULPRIT" query --live --hub "ipc://$dir/hub" --tracepoints "$dir/brood.tp" --for 1200s --json \
		'From s In Brood.step GroupBy s.procName Select s.procName, COUNT As n, SUM(s.number) As sum' >"$dir/told" 2>"$dir/said" 3>&- &
	asked=$!
	wait_until is_asked
	sleep 1
	for i in 1 2 3; do
		start java Brood 3 1 100
		touch "$dir/go"
		wait_until grep -q 'done' "$dir/out"
		rm -f "$dir/go"
		wait "$pid"
	done
	pid=
	sleep 3
	kill -INT "$asked"
	wait "$asked" || true
	kill "$agent" "$hub"
	wait
	cat "$dir/told" "$dir/said" "$dir/agent.err"
	python3 - "$dir/told" <<-'PY'
		import json, sys
		rows = list(map(json.loads, open(sys.argv[1])))
		assert not [r for r in rows if "machines_late" in str(r) or "machines_missed" in str(r)], rows
		rows = [r for r in rows if r.get("s.procName") == "child"]
		assert sum(r["n"] for r in rows) == 900 and sum(r["sum"] for r in rows) == 44550, rows
	PY
}

# As scripts do that start servers.
@test "a process that an agent was given becomes a machine, and nothing of that is missed" {
	"$CULPRIT" hub --help 2>&1 | grep -q queries || skip "culprit is built without the bus"
	# shellcheck disable=SC2016 # it is that shell's
	sh -c 'until [ -e "$1/go" ]; do sleep 0.05; done; exec java -XX:+UseSerialGC -cp "$1" Brood 100' sh "$dir" 3>&- &
	pid=$!
	"$CULPRIT" hub --queries --listen "ipc://$dir/hub" --state "$dir/state" 2>"$dir/hub.err" 3>&- &
	hub=$!
	"$CULPRIT" agent --queries --hub "ipc://$dir/hub" --name here --pid "$pid" 2>"$dir/agent.err" 3>&- &
	agent=$!
	"$CULPRIT" query --live --hub "ipc://$dir/hub" --tracepoints "$dir/brood.tp" --for 1200s --json \
		'From s In Brood.step Select COUNT As n, SUM(s.number) As sum' >"$dir/told" 2>"$dir/said" 3>&- &
	asked=$!
	wait_until is_asked
	sleep 1
	touch "$dir/go"
	wait "$pid"
	pid=
	wait_until grep -q '"n"' "$dir/told"
	sleep 2
	kill -INT "$asked"
	wait "$asked" || true
	asked=
	cat "$dir/told" "$dir/said" "$dir/agent.err"
	[ "$(sed -nE 's/.*"n":([0-9]+),"sum":([0-9]+).*/\1 \2/p' "$dir/told" | awk '{ n += $1; s += $2 } END { print n, s }')" = "100 4950" ]
	[ "$(grep -c losses "$dir/told")" = 0 ]
}

# A worker begins when it sees that it is watched.
@test "machines that nobody holds are entered while they run, and counted" {
	start java Forge 2
	ask 'From p In Forge.piece Select COUNT As n'
	kill -9 "$(child_of culprit-cradle)"
	touch "$dir/go"
	answer
	cat "$dir/out" "$dir/told" "$dir/said" "$dir/err"
	grep -q '"machines_late":2' "$dir/told"
}
