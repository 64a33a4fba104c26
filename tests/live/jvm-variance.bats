#!/usr/bin/env bats
# culprit variance on Java programs that measure their own variance (tests/live/jvm/Varies.java, Orders.java): each share within 3
# points.

load javas.bash
load variance.bash
load wait.bash

bats_require_minimum_version 1.5.0

setup_file() {
	if command -v javac >/dev/null; then
		javac_for "${JAVA:-java}" -d "$BATS_FILE_TMPDIR" "$BATS_TEST_DIRNAME/jvm/Varies.java" "$BATS_TEST_DIRNAME/jvm/Orders.java"
	fi
}

setup() {
	[ "$(uname -m)" = x86_64 ] || skip "Java machines are watched on x86-64 only"
	[ "$(id -u)" = 0 ] || skip "needs root"
	command -v javac >/dev/null || skip "needs a JDK"
	cd "$BATS_TEST_TMPDIR" || return 1
}

teardown() {
	if [ -n "${pid:-}" ]; then
		kill -9 "$pid" 2>/dev/null || true
	fi
}

slow() {
	[ "$LIVE" = all ] || skip "slow: make test-live"
}

# is_logging: whether the machine can write down when it stopped, to the nanosecond
is_logging() {
	! java_is_8 "${JAVA:-java}"
}

# start REASON OPTION-OF-JAVA...
start() {
	local reason=$1
	shift
	: >log
	! is_logging || set -- -Xlog:safepoint:file=log:tn "$@"
	"${JAVA:-java}" -XX:+UseSerialGC -Xmx160m "$@" -cp "$BATS_FILE_TMPDIR" Varies "$reason" truth.csv stop log >out 2>err 3>&- &
	pid=$!
	wait_until grep -q ready out
}

# watch ROUNDS OPTION...: then the program ends, and has written down what it knows. A round takes as long as it needs to see enough,
# also on a machine that is busy with others; the budget is for our own work.
watch() {
	timeout -s KILL 900 "$CULPRIT" variance -p "$pid" --overhead 30% --rounds "$@" --json -o run.culprit >factors.json 2>said 3>&- ||
		{ cat said; return 1; }
	touch stop
	wait_until grep -q done out
	wait "$pid"
	pid=
	! grep -v 'WARNING: \|^$' err
}

# vary REASON [ROUNDS]: what varies, and how
vary() {
	start "$1"
	watch "${2:-2}" --interval Varies.order
	agrees || { cat said factors.json; return 1; }
}

# orders REASON: goes over a queue, or not
orders() {
	"${JAVA:-java}" -XX:+UseSerialGC -Xmx160m -cp "$BATS_FILE_TMPDIR" Orders "$1" truth.csv stop >out 2>err 3>&- &
	pid=$!
	wait_until grep -q ready out
}

# the_wait FACTOR: for what it waits most, processors apart
the_wait() {
	python3 - "$1" <<-'PY'
		import json, sys
		rows = [json.loads(line) for line in open("factors.json")]
		waits = next(r["waits"] for r in rows if r.get("factor") == [sys.argv[1]])
		print(max((share, why) for why, share in waits.items() if why != "cpu")[1])
	PY
}

@test "a method with two speeds" {
	vary method
}

@test "a monitor that another thread has" {
	slow
	vary lock
	[ "$(the_wait Varies.note)" = lock ]
}

@test "collections of garbage are wait:gc, whichever method they meet" {
	slow
	is_logging || skip "Java 8 writes down its stops in milliseconds only"
	start gc
	watch 2 --interval Varies.order
	"$CULPRIT" export run.culprit --format csv >run.csv
	# at least what the machine took, at most that and what it took to get a processor
	for truth in truth.csv.logged truth.csv; do
		"$ROOT/tests/variance/check" "$truth" factors.json run.csv 99 | tee /dev/stderr | awk '$1 == "wait:gc" && $2 == "truth" { print $3, $5 }'
	done >shares
	awk 'NR == 1 { low = $1 } NR == 2 { high = $1; found = $2 } END { exit !(NR == 2 && found > low - 0.03 && found < high + 0.03) }' shares || { cat shares said; false; }
	grep '"factor":\["wait:gc"\]' factors.json | grep -q '"gc":1'
}

@test "a lock of java.util.concurrent" {
	slow
	vary pen
	[ "$(the_wait Varies.sign)" = lock ]
}

@test "sleep" {
	slow
	vary sleep
	[ "$(the_wait Varies.fetch)" = sleep ]
}

@test "two methods that make up for each other" {
	slow
	vary makeup
	grep -q '"factor":\["Varies.first","Varies.second"\],"share":-' factors.json
}

@test "behind an interface, the class that is meant, and what it calls" {
	slow
	vary nested 4
	grep '"factor":\["Varies$Disk.turn"\]' factors.json | grep -q 'Varies.order > Varies.keep > Varies$Disk.put > Varies$Disk.turn'
}

@test "an order that goes over a queue, by its number: in an int, a box, a field" {
	orders queue
	watch 2 --interval 'Orders.begin(id=arg0) .. Orders.end(id=arg0)' --put 'Orders.enqueue(id=arg0.getId())' \
		--carry 'Orders.work(id=arg0.id)'
	agrees || { cat said factors.json; false; }
}

@test "an order that goes over a queue, by a text that is made anew" {
	slow
	orders queue
	watch 2 --interval 'Orders.begin(id=arg1) .. Orders.end(id=arg1)' --carry 'Orders.work(id=arg0.toString())'
	agrees || { cat said factors.json; false; }
}

@test "an order that goes over a queue, by who it is, and what is taken from there is known by what is returned" {
	slow
	orders flat
	watch 2 --interval 'Orders.begin(id=arg2) .. Orders.end(id=arg2)' --put 'java.util.concurrent.LinkedBlockingQueue.offer(id=arg0)' \
		--take 'Orders.dequeue(id=ret)' --root 'Orders.check,Orders.set*'
	agrees || { cat said factors.json; false; }
}

@test "an amount of work that an argument says, which the method changes" {
	orders sort
	watch 1 --interval Orders.process --work 'Orders.sort(arg1)'
	agrees || { cat said factors.json; false; }
	python3 - <<-'PY'
		import json
		rows = {r["factor"][0]: r for r in map(json.loads, open("factors.json")) if len(r.get("factor", [])) == 1}
		assert rows["Orders.sort"].get("work") == "Orders.sort(arg1)", rows
		assert not rows["Orders.wander"].get("inherent"), rows
	PY
}

@test "a machine that culprit starts, by a script, is watched from when the class is there" {
	printf '#!/bin/sh\n"%s" -version\n"$@"\necho it is over\n' "${JAVA:-java}" >run.sh
	chmod +x run.sh
	timeout -s KILL 900 "$CULPRIT" variance --overhead 30% --interval Orders.process --rounds 99 --for 600s --json -o run.culprit \
		-- ./run.sh "${JAVA:-java}" -XX:+UseSerialGC -Xmx160m -cp "$BATS_FILE_TMPDIR" Orders sort truth.csv 1000 >factors.json 2>said 3>&- ||
		{ cat said; false; }
	grep -q 'it is over' said
	agrees || { cat said factors.json; false; }
}

@test "a machine that culprit starts, and its class that is not there" {
	run ! timeout -s KILL 300 "$CULPRIT" variance --no-run --interval Nobody.knows --for 3s -- "${JAVA:-java}" -cp "$BATS_FILE_TMPDIR" Orders sort truth.csv stop
	[[ $output == *"no class with a method of this name and code was loaded within 3 seconds: 'Nobody.knows'"* ]]
	touch stop
	run ! timeout -s KILL 300 "$CULPRIT" variance --no-run --interval Nobody.knows -- "${JAVA:-java}" -cp "$BATS_FILE_TMPDIR" Orders sort truth.csv stop
	[[ $output == *"the program ended before it could be watched"* || $output == *"ended before a class with 'Nobody.knows' was loaded"* ]]
	run ! timeout -s KILL 300 "$CULPRIT" variance --no-run --interval Orders.process -- "${JAVA:-java}" -version
	[[ $output == *"no function 'Orders.process'"* ]]
}

no_thread() {
	! grep -qx culprit "/proc/$pid/task/"*/comm
}

# is_watched: a thread of ours looks after what was woven
is_watched() {
	! no_thread
}

@test "who watches is killed: the machine goes on, and has its classes back" {
	slow
	start method
	"$CULPRIT" variance -p "$pid" --interval Varies.order --for 60s --json >told 2>said 3>&- &
	local watching=$!
	wait_until is_watched
	kill -9 "$watching"
	wait "$watching" || true
	wait_until no_thread
	timeout 600 "$CULPRIT" variance -p "$pid" --interval Varies.order --overhead 30% --rounds 1 --json >factors.json 2>said || { cat said; false; }
	grep -q '"factor":\["Varies.pick"' factors.json
	touch stop
	wait_until grep -q done out
}

@test "what is not there, and what cannot be taken, is said" {
	start method
	run ! "$CULPRIT" variance -p "$pid" --interval Varies.nothing --for 2s
	[[ $output == *"no class that is loaded has a method of this name"* ]]
	run ! "$CULPRIT" variance -p "$pid" --interval 'Varies.order(id=*(arg0+8))' --for 2s
	[[ $output == *"a value of a Java method is arg0, ret, this, or what is in them"* ]]
	run ! "$CULPRIT" variance -p "$pid" --interval 'Varies.order(id=arg7)' --for 2s
	[[ $output == *"it has no such argument"* ]]
	run ! "$CULPRIT" variance -p "$pid" --interval 'Varies.order(id=this)' --for 2s
	[[ $output == *"there is no this"* ]]
	run ! "$CULPRIT" variance -p "$pid" --interval 'Varies.order(id=ret)' --for 2s
	[[ $output == *"what is returned is not known when the call begins"* ]]
	run ! "$CULPRIT" variance -p "$pid" --interval 'Varies.order' --carry 'Varies.pick(id=ret)' --for 2s
	[[ $output == *"the method returns nothing"* ]]
	run ! "$CULPRIT" variance -p "$pid" --interval 'Varies.order' --work 'Varies.order(arg0)' --for 2s
	[[ $output == *"it is no number"* ]]
	touch stop
	wait_until grep -q done out
}
