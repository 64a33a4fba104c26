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
	wait_until test -s "$DIR/desk" || { cat "$DIR/err"; return 1; }
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
shown() { wait_until is_shown "$1" || { tail -n 3 "$DIR/desk"; return 1; }; }
is_shown() { tail -n 1 "$DIR/desk" | grep -q "$1"; }

# The same of the seconds that it was told, each of them once.
exact_in_seconds() {
	exact "$@"
	shown "^sum \\([0-9]*\\) .*skipped 0 .* seconds \\1\\( \\|$\\)"
}

# more_than BYTES FILE: there is more in it
more_than() { [ "$(stat -c %s "$2")" -gt "$1" ]; }

told() { tail -n 1 "$DIR/desk" | sed 's/^sum \([0-9]*\) .*/\1/'; }

# Until the operator was told more, and then at any moment of a second.
grows() {
	local was
	was=$(told)
	wait_until is_not_told "$was" || { cat "$DIR/err"; return 1; }
	sleep "0.$((RANDOM % 10))"
}
is_not_told() { [ "$(told)" != "$1" ]; }
is_told() { [ "$(told)" = "$1" ]; }

# Until the operator was told what the swarms of these files reported.
exact() {
	local sum
	sum=$(cat "$@" | awk '{ s += $2 } END { print s }')
	wait_until is_told "$sum" || { echo "reported $sum, told:"; tail -n 2 "$DIR/desk"; return 1; }
}

# count NAME [OPTION...]: as the hub says, which may take its time to answer
count() {
	wait_until counts "${@:2}"
	sed -n "s/^{\"count\":\"$1\",\"value\":\([0-9]*\)}$/\1/p" "$DIR/counts"
}
counts() { "$CULPRIT" hub --status "$HUB" --json "$@" >"$DIR/counts"; }
is_skipping() { [ "$(count 'results that slow operators did not get')" -ge "$TIMES" ]; }

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
	exact_in_seconds "$DIR/a"
	[ "$(count 'reports that never came')" = 0 ]
	[ "$(count 'queries restored from the state')" = 1 ]
}

@test "each second in JSON lines, in a run and in the whole is what agents saw in it, over a hub that is killed" {
	printf 'tracepoint T\n\tat function shop!serve entry\n\texport group = arg0\n\texport x = arg1\n' >"$DIR/t.tp"
	hub hub
	wait_until "$CULPRIT" hub --status "$HUB"
	"$CULPRIT" query --live --hub "$HUB" --tracepoints "$DIR/t.tp" --for 900s --json --output "$DIR/run" \
		'Q: From e In T GroupBy e.group Select e.group, SUM(e.x) As sum, COUNT, MAX(e.x)' >"$DIR/lines" 3>&- 2>"$DIR/query.err" &
	query=$!
	PIDS+=("$query")
	BUS_SWARM_TRUTH=$DIR/truth agents "$DIR/a" "$HUB" a 40
	for _ in $(seq "$TIMES"); do
		wait_until more_than "$(stat -c %s "$DIR/lines")" "$DIR/lines"
		sleep "0.$((RANDOM % 10))"
		kill -9 "$hub"
		sleep "$((RANDOM % 4)).$((RANDOM % 10))"
		hub hub
	done
	wait_until more_than "$(stat -c %s "$DIR/lines")" "$DIR/lines"
	agents_end "$DIR/a"
	# the last seconds are on their way: who takes the query back gets them
	kill -INT "$query"
	wait "$query" || { cat "$DIR/query.err" "$DIR/err"; return 1; }
	# shellcheck disable=SC2016  # the language's own quotes
	"$CULPRIT" query "$DIR/run" --json 'From r In Q Select r.time As time, r.`e.group` As group_, r.sum As sum' >"$DIR/kept"
	python3 - "$DIR/truth" "$DIR/lines" "$DIR/kept" <<-'END'
	import collections, json, sys
	truth = {int(ns): int(n) for ns, n in map(str.split, open(sys.argv[1]))}
	def check(what, rows):
	    told = collections.defaultdict(int)
	    for (time, _), n in rows:
	        told[time] += n
	    assert told == truth, (what, {t: (told.get(t), truth.get(t)) for t in {*told, *truth} if told.get(t) != truth.get(t)})
	lines = [json.loads(line) for line in open(sys.argv[2])]
	# later lines of a second replace earlier ones; a run has each once
	check("lines", {(r["time"], r["e.group"]): r["sum"] for r in lines if "time" in r}.items())
	kept = [json.loads(line) for line in open(sys.argv[3])]
	check("run", [((r["time"], r["group_"]), r["sum"]) for r in kept if "time" in r])
	assert "seconds_missed" not in str(lines[-1]) and "reports_missing" not in str(lines[-1]), lines[-1]
	END
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
	sleep 1 # any while will do
	hub hub
	grows
	kill -9 "$below"
	hub below --parent "$HUB"
	grows
	agents_end "$DIR/a"
	exact_in_seconds "$DIR/a"
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
	wait_until counts
	cp "$DIR/counts" "$DIR/status"
	[ "$(grep -c '"peer":"a-[0-9]*".*"connected":false.*"left":false' "$DIR/status")" = 10 ]
	[ "$(grep -c '"peer":"b-[0-9]*".*"missing":0' "$DIR/status")" = 10 ]
}

@test "an operator that stands still costs nobody anything, and has it all when it goes on" {
	hub hub --limits seconds=4
	operator "$HUB"
	agents "$DIR/a" "$HUB" a 10
	grows
	kill -STOP "$desk"
	# 16 results are on their way to it and four more are kept before the first is left out, one a second
	wait_until is_skipping
	agents_end "$DIR/a"
	[ "$(count 'results that slow operators did not get')" -ge "$TIMES" ]
	kill -CONT "$desk"
	exact "$DIR/a"
	shown 'skipped [1-9]'
	kill "$desk"
	wait "$desk"
	# what is missing from the seconds has a name and a number
	tail -n 1 "$DIR/desk" | grep -q 'skipped \([0-9]*\) .*seconds_missed=\1'
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

# What real processes have: a program that counts its calls, an agent of it and a query that counts them, too, by a hub with keys.
counting_begin() {
	COUNTER=$(find "$BUILD" -name bus_counter -type f -perm -u+x | head -n 1)
	[ -n "$COUNTER" ] || skip "bus_counter is not built"
	[ "$(id -u)" = 0 ] || skip "entering a process needs root"
	HUB=127.0.0.1:$(port_find)
	"$CULPRIT" hub --keys "$DIR/keys" --grant agent:here
	"$CULPRIT" hub --keys "$DIR/keys" --grant operator:boss
	keyed_hub
	"$COUNTER" >"$DIR/truth" 3>&- &
	counter=$!
	PIDS+=("$counter")
	keyed_agent
	printf 'tracepoint Work\n\tat function bus_counter!counter_work entry\n\texport n = arg0\n' >"$DIR/work.tp"
	"$CULPRIT" query --live --hub "$HUB" --keys "$DIR/keys/boss.key" --tracepoints "$DIR/work.tp" --for 900s --json \
		'From w In Work GroupBy w.procName Select w.procName, COUNT As calls, SUM(w.n) As sum' >"$DIR/answer" 3>&- 2>"$DIR/query.err" &
	query=$!
	PIDS+=("$query")
	wait_until agent_watches
	kill -USR1 "$counter"
	wait_until has_more 0
}

keyed_hub() {
	"$CULPRIT" hub --queries --listen "$HUB" --state "$DIR/state" --keys "$DIR/keys" 3>&- 2>>"$DIR/err" &
	hub=$!
	PIDS+=("$hub")
}

keyed_agent() {
	"$CULPRIT" agent --queries --hub "$HUB" --keys "$DIR/keys/here.key" --name here --pid "$counter" 3>&- 2>>"$DIR/agent.err" &
	agent=$!
	PIDS+=("$agent")
}

agent_watches() {
	"$CULPRIT" hub --status "$HUB" --key "$DIR/keys/boss.key" --json | grep -q '"tracepoints":1'
}

# how many rows the hub has of its only query
rows() {
	"$CULPRIT" hub --status "$HUB" --key "$DIR/keys/boss.key" --json | python3 -c '
import json, sys
print(sum(r["rows"] for r in map(json.loads, sys.stdin) if "rows" in r))' 2>/dev/null || echo 0
}
is_unpatched() { ! python3 "$ROOT/tests/live/variance_unpatched.py" "$@" | grep bus_counter; }
has_more() { [ "$(rows)" -gt "$1" ]; }

# Whoever asked takes it back: "calls sum losses" of all seconds, the last lines of each of them.
counting_end() {
	kill -INT "$query"
	wait "$query" || { cat "$DIR/query.err" "$DIR/agent.err" "$DIR/err"; return 1; }
	python3 - "$DIR/answer" <<-'END'
	import json, sys
	lines = [json.loads(line) for line in open(sys.argv[1])]
	seconds = {r["time"]: r for r in lines if "time" in r}
	print(sum(r["calls"] for r in seconds.values()), sum(r["sum"] for r in seconds.values()), json.dumps(lines[-1]))
	END
}

@test "every call of a real function is in a second of the answer, with keys, over a hub that is killed meanwhile" {
	counting_begin
	for _ in $(seq "$TIMES"); do
		was=$(rows)
		kill -9 "$hub"
		sleep "$((RANDOM % 3)).$((RANDOM % 10))"
		keyed_hub
		wait_until has_more "$was"
	done
	kill -TERM "$counter"
	wait_until test -s "$DIR/truth"
	counting_end >"$DIR/told"
	cat "$DIR/truth" "$DIR/told" "$DIR/query.err"
	grep -q "^$(cat "$DIR/truth") " "$DIR/told"
}

@test "an agent that is killed: what it had told counts, that something is missing is told, and nothing is left in the program" {
	counting_begin
	kill -9 "$agent"
	was=$(rows)
	keyed_agent
	wait_until has_more "$was"
	kill -TERM "$counter"
	wait_until test -s "$DIR/truth"
	counting_end >"$DIR/told"
	cat "$DIR/truth" "$DIR/told" "$DIR/query.err"
	read -r calls sum losses <"$DIR/told"
	read -r all_calls all_sum <"$DIR/truth"
	[ "$calls" -gt "$was" ]
	[ "$calls" -le "$all_calls" ]
	[ "$sum" -le "$all_sum" ]
	[[ "$losses" == *agents_silent* ]]
	# what was counted is as it was compiled, and all else when the agent goes, too
	wait_until is_unpatched "$counter" counter_work
	kill "$agent"
	wait "$agent"
	kill -0 "$counter"
	python3 "$ROOT/tests/live/variance_unpatched.py" "$counter" counter_work
}
