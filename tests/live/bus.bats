# A hub of live queries, its agents and operators as processes that are killed. The swarm knows the sum of what it reported.

# shellcheck disable=SC2030,SC2031  # each test is a subshell of its own

load wait.bash
load ports.bash

setup() {
	SWARM=$(find "$BUILD" -name bus_swarm -type f -perm -u+x | head -n 1)
	[ -n "$SWARM" ] || skip "bus_swarm is not built"
	DIR=$(mktemp -d)
	HUB=ipc://$DIR/hub
	PIDS=()
	TIMES=2
	[ "$LIVE" != all ] || TIMES=5
}

teardown() {
	for pid in "${PIDS[@]}"; do
		kill -9 "$pid" 2>/dev/null || true
	done
	rm -rf "$DIR"
}

# hub NAME [OPTION...]: its process id in $hub
hub() {
	local name=$1
	shift
	"$CULPRIT" hub --queries --name "$name" --listen "ipc://$DIR/$name" --state "$DIR/$name.state" "$@" 3>&- 2>>"$DIR/err" &
	hub=$!
	PIDS+=("$hub")
}

operator() {
	"$SWARM" operator "$1" 3600 "${@:2}" >"$DIR/desk" 3>&- &
	desk=$!
	PIDS+=("$desk")
	for _ in $(seq 600); do
		[ -s "$DIR/desk" ] && return
		sleep 0.1
	done
	cat "$DIR/err"
	return 1
}

# agents FILE ENDPOINT NAME NR [KEY]: in the background, until agents_end
agents() {
	"$SWARM" agents "$2" "$3" "$4" 600 10 "${@:5}" >"$1" 3>&- &
	crowd=$!
	PIDS+=("$crowd")
}

# agents_end FILE: those begun last have told all
agents_end() {
	kill "$crowd"
	wait "$crowd"
	cat "$1"
	grep -q 'left 0' "$1"
}

# Until the operator says so.
shown() {
	for _ in $(seq 600); do
		tail -n 1 "$DIR/desk" | grep -q "$1" && return
		sleep 0.1
	done
	tail -n 3 "$DIR/desk"
	return 1
}

told() { tail -n 1 "$DIR/desk" | sed 's/^sum \([0-9]*\) .*/\1/'; }

# Until the operator was told more, and then at any moment of a second.
grows() {
	local was
	was=$(told)
	for _ in $(seq 600); do
		[ "$(told)" = "$was" ] || { sleep "0.$((RANDOM % 10))"; return; }
		sleep 0.1
	done
	echo "stays at $was"
	cat "$DIR/err"
	return 1
}

# Until the operator was told what the swarms of these files reported.
exact() {
	local sum
	sum=$(cat "$@" | awk '{ s += $2 } END { print s }')
	for _ in $(seq 600); do
		[ "$(told)" = "$sum" ] && return
		sleep 0.1
	done
	echo "reported $sum, told:"
	tail -n 2 "$DIR/desk"
	return 1
}

count() { "$CULPRIT" hub --status "$HUB" --json "${@:2}" | sed -n "s/^{\"count\":\"$1\",\"value\":\([0-9]*\)}$/\1/p"; }

@test "a hub that is killed again and again under load loses nothing and counts nothing twice" {
	hub hub
	operator "$HUB"
	agents "$DIR/a" "$HUB" a 40
	for _ in $(seq "$TIMES"); do
		grows
		kill -9 "$hub"
		sleep "0.$((RANDOM % 10))"
		hub hub
	done
	grows
	agents_end "$DIR/a"
	exact "$DIR/a"
	[ "$(count 'reports that never came')" = 0 ]
	[ "$(count 'queries restored from the state')" = 1 ]
}

@test "a hub below is killed, and the hub above" {
	hub hub
	top=$hub
	hub below --parent "$HUB"
	below=$hub
	operator "$HUB"
	agents "$DIR/a" "ipc://$DIR/below" a 30
	grows
	kill -9 "$below"
	hub below --parent "$HUB"
	below=$hub
	grows
	kill -9 "$top"
	sleep 1
	hub hub
	grows
	kill -9 "$below"
	hub below --parent "$HUB"
	grows
	agents_end "$DIR/a"
	exact "$DIR/a"
}

@test "an agent that is killed is seen to be gone, and what others report stays exact" {
	hub hub
	operator "$HUB"
	agents "$DIR/a" "$HUB" a 10
	victim=$crowd
	agents "$DIR/b" "$HUB" b 10
	shown 'agents 20 silent 0'
	kill -9 "$victim"
	shown 'silent 10'
	agents_end "$DIR/b"
	"$CULPRIT" hub --status "$HUB" --json >"$DIR/status"
	[ "$(grep -c '"peer":"a-[0-9]*".*"connected":false.*"left":false' "$DIR/status")" = 10 ]
	[ "$(grep -c '"peer":"b-[0-9]*".*"missing":0' "$DIR/status")" = 10 ]
}

@test "an operator that stands still costs nobody anything, and has it all when it goes on" {
	hub hub
	operator "$HUB"
	agents "$DIR/a" "$HUB" a 10
	grows
	kill -STOP "$desk"
	# 16 results wait for it before the first is left out, one a second
	for _ in $(seq 600); do
		[ "$(count 'results that slow operators did not get')" -lt "$TIMES" ] || break
		sleep 0.2
	done
	agents_end "$DIR/a"
	[ "$(count 'results that slow operators did not get')" -ge "$TIMES" ]
	kill -CONT "$desk"
	exact "$DIR/a"
	tail -n 1 "$DIR/desk" | grep -q 'skipped [1-9]'
	[ "$(awk '/VmHWM/ { print $2 }' "/proc/$hub/status")" -lt 100000 ]
}

@test "over TCP with keys: who has none, or others, is refused and counted" {
	port=$(port_find)
	"$CULPRIT" hub --keys "$DIR/keys" --grant agent:crowd
	"$CULPRIT" hub --keys "$DIR/keys" --grant operator:boss
	"$CULPRIT" hub --keys "$DIR/other" --grant operator:boss
	[ "$(stat -c %a "$DIR/keys/boss.key")" = 600 ]
	HUB=127.0.0.1:$port
	"$CULPRIT" hub --queries --listen "$HUB" --state "$DIR/state" --keys "$DIR/keys" 3>&- 2>>"$DIR/err" &
	PIDS+=($!)
	operator "$HUB" "$DIR/keys/boss.key"
	agents "$DIR/a" "$HUB" a 10 "$DIR/keys/crowd.key"
	run "$CULPRIT" hub --status "$HUB" --key "$DIR/other/boss.key"
	[ "$status" = 2 ]
	[[ "$output" == *"does not let us in"* || "$output" == *"no hub answers"* ]]
	run "$CULPRIT" hub --status "$HUB"
	[ "$status" = 2 ]
	run "$CULPRIT" hub --status "$HUB" --key "$DIR/keys/crowd.key"
	[ "$status" = 2 ]
	[[ "$output" == *"another role"* ]]
	chmod 644 "$DIR/other/boss.key"
	run "$CULPRIT" hub --status "$HUB" --key "$DIR/other/boss.key"
	[[ "$output" == *"chmod 600"* ]]
	grows
	agents_end "$DIR/a"
	exact "$DIR/a"
	[ "$(count 'handshakes refused' --key "$DIR/keys/boss.key")" -gt 0 ]
	# nothing of a query is readable on the wire, and nobody listens beyond this host without keys
	run "$CULPRIT" hub --queries --listen "0.0.0.0:$((port + 1))" --state "$DIR/state2"
	[ "$status" = 2 ]
	[[ "$output" == *"no keys"* ]]
}

@test "bytes of strangers are counted, and the hub goes on" {
	port=$(port_find)
	"$CULPRIT" hub --queries --listen "127.0.0.1:$port" --state "$DIR/state" 3>&- 2>>"$DIR/err" &
	stranger=$!
	PIDS+=("$stranger")
	HUB=127.0.0.1:$port
	operator "$HUB"
	for _ in 1 2 3 4 5; do
		head -c 100000 /dev/urandom | timeout 2 bash -c "cat >/dev/tcp/127.0.0.1/$port" 2>/dev/null || true
		printf 'GET / HTTP/1.1\r\n\r\n' | timeout 2 bash -c "cat >/dev/tcp/127.0.0.1/$port" 2>/dev/null || true
	done
	agents "$DIR/a" "$HUB" a 5
	grows
	agents_end "$DIR/a"
	exact "$DIR/a"
	kill -0 "$stranger"
}

@test "every call of a real function is in the answer, with keys, over a hub that is killed meanwhile" {
	COUNTER=$(find "$BUILD" -name bus_counter -type f -perm -u+x | head -n 1)
	[ -n "$COUNTER" ] || skip "bus_counter is not built"
	[ "$(id -u)" = 0 ] || skip "entering a process needs root"
	HUB=127.0.0.1:$(port_find)
	"$CULPRIT" hub --keys "$DIR/keys" --grant agent:here
	"$CULPRIT" hub --keys "$DIR/keys" --grant operator:boss
	keyed() {
		"$CULPRIT" hub --queries --listen "$HUB" --state "$DIR/state" --keys "$DIR/keys" 3>&- 2>>"$DIR/err" &
		hub=$!
		PIDS+=("$hub")
	}
	# how many rows the hub has of its only query
	rows() {
		"$CULPRIT" hub --status "$HUB" --key "$DIR/keys/boss.key" --json | python3 -c '
import json, sys
print(sum(r["rows"] for r in map(json.loads, sys.stdin) if "rows" in r))' 2>/dev/null || echo 0
	}
	has_more() { [ "$(rows)" -gt "$1" ]; }
	has_all() { [ -s "$DIR/truth" ] && [ "$(rows)" = "$(cut -d ' ' -f 1 "$DIR/truth")" ]; }
	keyed
	"$COUNTER" >"$DIR/truth" 3>&- &
	counter=$!
	PIDS+=("$counter")
	"$CULPRIT" agent --queries --hub "$HUB" --keys "$DIR/keys/here.key" --name here --pid "$counter" 3>&- 2>"$DIR/agent.err" &
	PIDS+=($!)
	printf 'tracepoint Work\n\tat function bus_counter!counter_work entry\n\texport n = arg0\n' >"$DIR/work.tp"
	"$CULPRIT" query --live --hub "$HUB" --keys "$DIR/keys/boss.key" --tracepoints "$DIR/work.tp" --for 900s \
		'From w In Work GroupBy w.procName Select w.procName, COUNT As calls, SUM(w.n) As sum' >"$DIR/answer" 3>&- 2>"$DIR/query.err" &
	query=$!
	PIDS+=("$query")
	for _ in $(seq 600); do
		"$CULPRIT" hub --status "$HUB" --key "$DIR/keys/boss.key" --json | grep -q '"tracepoints":1' && break
		sleep 0.1
	done
	kill -USR1 "$counter"
	wait_until has_more 0
	was=$(rows)
	kill -9 "$hub"
	sleep "1.$((RANDOM % 10))"
	keyed
	wait_until has_more "$was"
	kill -TERM "$counter"
	wait_until has_all
	# what the hub has is on its way to who asked: the next second
	sleep 3
	kill -INT "$query"
	wait "$query" || { cat "$DIR/query.err" "$DIR/agent.err"; return 1; }
	read -r calls sum <"$DIR/truth"
	cat "$DIR/answer" "$DIR/query.err"
	tr -d , <"$DIR/answer" | grep -q "bus_counter *$calls .* *$sum\b\|bus_counter *$calls *$sum\b"
}
