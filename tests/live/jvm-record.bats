#!/usr/bin/env bats
# Requests of running Java programs, recorded: against what the programs know of themselves.
load javas.bash
load wait.bash

setup() {
	command -v javac >/dev/null || skip "needs a JDK"
	dir=$BATS_TEST_TMPDIR
	javac_for java -d "$dir" "$BATS_TEST_DIRNAME/jvm/Shop.java" "$BATS_TEST_DIRNAME/jvm/Office.java"
	cat >"$dir/office.tp" <<-'TP'
		tracepoint Office.serve at class Office.serve entry export id = arg0
		tracepoint Office.check at class Office.check entry export id = arg0
		tracepoint Office.work at class Office.work entry export id = arg0
		tracepoint Office.worked at class Office.work exit export result = return
		tracepoint Office.stamp at class Office.stamp entry export id = arg0
		tracepoint Office.file at class Office.file entry export id = arg0
		tracepoint Office.tidy at class Office.tidy entry export id = arg0
	TP
}

teardown() {
	rm -f "$dir/go"
	for p in ${recorder:-} ${pid:-}; do
		kill -9 "$p" 2>/dev/null || true
	done
}

# start CLASS REQUESTS PAUSE
start() {
	java -XX:+UseSerialGC -cp "$dir" "$1" "$dir/go" "$2" "$3" >"$dir/out" 2>"$dir/err" 3>&- &
	pid=$!
	wait_until grep -q ready "$dir/out"
}

# record OPTION...: the whole of the program's work, which begins when the recording has
record() {
	"$CULPRIT" record --jvm -p "$pid" -o "$dir/run" "$@" -- bash -c '. "$0"; touch "$1/go"; wait_until grep -q done "$1/out"' \
		"$BATS_TEST_DIRNAME/wait.bash" "$dir" >"$dir/told" 2>"$dir/said" 3>&- || { echo "ended with $?"; cat "$dir/said" "$dir/told"; false; }
	"$CULPRIT" export "$dir/run" --format otlp -o "$dir/spans"
}

@test "every order is a request, with what other threads do for it" {
	start Shop 3000 100
	record --span Shop.order --span 'Shop.sell(int),Shop.pack' --no-lines
	python3 "$BATS_TEST_DIRNAME/jvm/record_check.py" shop "$dir/out" "$dir/spans"
	# nothing is missing, and nothing was said
	! grep -q "culprit:" "$dir/said" || { cat "$dir/said"; false; }
	"$CULPRIT" requests "$dir/run" --json >"$dir/requests"
	python3 - "$dir/requests" <<-'PY'
		import json, sys
		rows = [r for r in map(json.loads, open(sys.argv[1])) if "id" in r]
		assert len(rows) == 3000 and all(r["spans"] == 3 and not r["incomplete"] and r["confidence"] == 1 and not r["errors"] for r in rows), rows[:3]
		assert {r["type"] for r in rows} == {"Shop: Shop.order"}
	PY
	! grep -q losses "$dir/requests"
	"$CULPRIT" paths "$dir/run" --json | grep -q '"path":"Shop","count":3000'
	"$CULPRIT" variance "$dir/run" | grep -q 'Shop: Shop.order'
	"$CULPRIT" query "$dir/run" --json 'From p In Shop.pack Join o In First(Shop.order) On o -> p Select COUNT' | grep -q '"COUNT":3000'
	[ ! -s "$dir/err" ] || ! grep -v '^WARNING: ' "$dir/err"
}

@test "attributes, failures and log lines are in the requests that they are of" {
	start Office 1000 200
	record --tracepoints "$dir/office.tp"
	python3 "$BATS_TEST_DIRNAME/jvm/record_check.py" office "$dir/out" "$dir/spans"
	# the line that no request wrote
	grep -q '1 log line that no recorded request wrote' "$dir/told"
	! grep -q 'dropped\|not in the input\|never closed' "$dir/told"
}

@test "when the recorder is killed the program runs on, and everything is as it was" {
	start Shop 100000000 50
	"$CULPRIT" record --jvm -p "$pid" --span Shop.order --span Shop.pack -o "$dir/run" -- bash -c 'touch "$0/go"; while kill -0 $PPID; do sleep 0.1; done' "$dir" >"$dir/told" 2>"$dir/said" 3>&- &
	recorder=$!
	wait_until test -e "$dir/go"
	sleep 1 # any moment will do
	kill -9 "$recorder" 2>/dev/null || true
	wait_until no_thread
	kill -0 "$pid"
	! grep -v '^WARNING: ' "$dir/err" || false
	# and again, in the midst of its work
	make_work
	rm -f "$dir/run"
	"$CULPRIT" record --jvm -p "$pid" --span Shop.order -o "$dir/run" -- bash -c '. "$0"; wait_until works "$1" "$(worked "$1")"' \
		"$BATS_TEST_TMPDIR/work.bash" "$pid"
	"$CULPRIT" requests "$dir/run" --json | grep -q '"type":"Shop: Shop.order"'
}

# work.bash: worked PID: how much processor time its clerks have had so far, in hundredths of a second; works PID MORE: more than that
make_work() {
	cat "$BATS_TEST_DIRNAME/wait.bash" - >"$BATS_TEST_TMPDIR/work.bash" <<-'END'
		worked() { cat "/proc/$1/task/"*/stat | grep 'pool-1-thread' | sed 's/.*) //' | awk '{ s += $12 + $13 } END { print s + 0 }'; }
		works() { [ "$(worked "$1")" -gt $(($2 + 10)) ]; }
	END
}

no_thread() {
	! grep -qx culprit "/proc/$pid/task/"*/comm
}

@test "what cannot be recorded is said" {
	start Shop 1 1
	run "$CULPRIT" record --jvm -o "$dir/run"
	[ "$status" = 2 ] && [[ $output == *"--pid"* ]]
	run "$CULPRIT" record --jvm -p "$pid" --span nothing -o "$dir/run"
	[ "$status" = 2 ] && [[ $output == *"a.b.C.method"* ]]
	run "$CULPRIT" record --jvm --sockets -p "$pid" -o "$dir/run"
	[ "$status" = 2 ] && [[ $output == *"--sockets is of messages"* ]]
	run "$CULPRIT" record --jvm -p "$pid" --span no.such.Thing.run --for 300ms -o "$dir/run"
	[[ $output == *"no method no.such.Thing.run is loaded yet"* ]]
	[[ $output != *"logback"* ]]
}
