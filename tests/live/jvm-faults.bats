#!/usr/bin/env bats
# Java programs that are asked while something goes wrong: classes that cannot be woven, kills, others who weave, calls without end.
load jvm-faults.bash

setup_file() {
	faults_compile
}

setup() {
	faults_setup
}

teardown() {
	faults_teardown
}

@test "a method that cannot be woven is left alone and named; old and odd classes are woven" {
	cat >"$dir/odd.tp" <<-'TP'
		tracepoint Old at class Old.go exit
			export n = arg0, r = return, took = duration
		tracepoint Bare at class Bare.* exit
			export n = arg0, r = return, took = duration
		tracepoint Vast at class Vast.* entry
			export n = 1
	TP
	start Quirks 500
	ask 'From x In Old, Bare, Vast Select COUNT As n' "$dir/odd.tp"
	touch "$dir/go"
	answer
	grep -F 'Vast.go(I)I is left as it is: it would be larger than a method may be' "$dir/said"
	# five methods but the vast one, as often as they are called: the sum of what they all give is right
	[ "$(sed -n 's/.*"n":\([0-9]*\).*/\1/p' "$dir/told" | awk '{ s += $1 } END { print s }')" = 2500 ]
	! grep losses "$dir/told" || false
	grep -qx "sum $((6 * 500 * 499 / 2 + 5 * 500 + 21844 * 500))" "$dir/out"
	quiet
}

@test "a second session is refused, and the first one goes on exactly" {
	start Shop 6000 100
	ask "$JOINED"
	touch "$dir/go"
	run "$CULPRIT" query --live --pid "$pid" --tracepoints "$dir/shop.tp" --for 1s --json 'From p In Shop.pack Select COUNT'
	[ "$status" = 2 ]
	[[ $output == *"is being watched already"* ]]
	answer
	as_said
	quiet
}

# kills ROUNDS: of culprit or its guardian, at any time, under load; the bytes of all classes are as they were
kills() {
	start Shop 100000000 30
	touch "$dir/go"
	look before
	for ((i = 0; i < $1; i++)); do
		"$CULPRIT" query --live --pid "$pid" --tracepoints "$dir/shop.tp" --for 1200s --json "$JOINED" >"$dir/told" 2>"$dir/said" 3>&- &
		asked=$!
		sleep "0.$((RANDOM % 10))"
		[ $((i % 2)) = 0 ] || wait_until woven
		# a guardian that is killed leaves a culprit that ends, or sees it and goes on without
		if [ $((i % 4)) = 3 ]; then
			pkill -9 -P "$asked" || true
			sleep 0.2
		fi
		kill -9 "$asked" || true
		wait "$asked" || true
		asked=
	done
	taken_back
}

# enough: of every customer more calls than a mistake could be were told, however slow the machine is
enough() {
	python3 - "$dir/told" <<-'PY'
		import json, sys
		told = {"ann": 0, "bob": 0, "eve": 0}
		for line in open(sys.argv[1]):
		    row = json.loads(line) if line.endswith("\n") else {}
		    if "customer" in row:
		        told[row["customer"]] += row["n"]
		sys.exit(min(told.values()) <= 10)
	PY
}

# exact: another session of the same machine, with a program that goes on, sees every call
exact() {
	ask 'From p In Shop.pack Join o In First(Shop.order) On o -> p GroupBy o.customer Select o.customer As customer, COUNT As n, SUM(p.amount) As amount'
	wait_until enough
	stop
	python3 - "$dir/told" <<-'PY'
		import json, sys
		rows = [json.loads(l) for l in open(sys.argv[1])]
		assert not [r for r in rows if "losses" in r], rows
		told = {}
		for r in rows:
		    told[r["customer"]] = told.get(r["customer"], 0) + r["n"]
		# customers take turns
		assert len(told) == 3 and max(told.values()) - min(told.values()) <= 1 and min(told.values()) > 10, told
	PY
}

@test "killed at any time, it is all taken back, and the next session works" {
	kills 4
	exact
	quiet
}

@test "killed at any time, twenty times" {
	[ "$LIVE" = all ] || skip "slow: make test-live"
	kills 20
	exact
	quiet
}

@test "the hub and the agent are killed, and it is all taken back" {
	[ "$LIVE" = all ] || skip "slow: make test-live"
	"$CULPRIT" hub --help 2>&1 | grep -q queries || skip "culprit is built without the bus"
	hub=ipc://$dir/hub
	start Shop 100000000 30
	touch "$dir/go"
	look before
	for ((i = 0; i < 6; i++)); do
		"$CULPRIT" hub --queries --name hub --listen "$hub" --state "$dir/state" 3>&- 2>>"$dir/hub.err" &
		others=($!)
		"$CULPRIT" agent --queries --hub "$hub" --name here --pid "$pid" 3>&- 2>>"$dir/agent.err" &
		others+=($!)
		"$CULPRIT" query --live --hub "$hub" --tracepoints "$dir/shop.tp" --for 1200s --json "$JOINED" >"$dir/told" 2>"$dir/said" 3>&- &
		others+=($!)
		wait_until grep -q '"n":' "$dir/told"
		for ((k = 0; k < 3; k++)); do
			kill -9 "${others[(i + k) % 3]}"
			wait "${others[(i + k) % 3]}" || true
			sleep "0.$((RANDOM % 10))"
		done
		others=()
		rm -f "$dir/told" "$dir/hub"
	done
	taken_back
	exact
	quiet
}

@test "another agent transforms the same classes meanwhile: what both have changed is there" {
	start Shop 6000 100
	ask 'From p In Shop.pack GroupBy p.into Select p.into As into, COUNT As n, SUM(p.weight) As weight'
	peek "text box bag Shop"
	peek "again 20 Shop $CARRIED"
	touch "$dir/go"
	answer
	python3 - "$dir/told" <<-'PY'
		import json, sys
		rows = [r for r in map(json.loads, open(sys.argv[1]))]
		assert not [r for r in rows if "losses" in r], rows
		assert {r["into"] for r in rows} == {"bag"} and sum(r["n"] for r in rows) == 6000, rows
	PY
	quiet
}

@test "another agent was there first" {
	options="-XX:+UseSerialGC -javaagent:$BATS_FILE_TMPDIR/peek.jar=text,box,bag,Shop" start Shop 3000 50
	ask "$JOINED"
	peek "again 20 Shop $CARRIED"
	touch "$dir/go"
	answer
	as_said
	quiet
}

@test "what is thrown, getters that misbehave, records, proxies and classes of many loaders" {
	cat >"$dir/odd.tp" <<-'TP'
		tracepoint Fail at class Odd.fail exception
			export what = thrown.getMessage()
		tracepoint Hoard at class Odd.hoard exception
			export what = thrown.class
		tracepoint Use at class Odd.use exit
			export bad = arg0.getBad(), slow = arg0.getSlow(), inner = arg0.getWoven(), text = arg0, n = arg0.n
		tracepoint Run at class Odd$Task.run entry
			export what = this.class
		tracepoint Sum at class Odd$Pair.sum exit
			export what = this.b
		tracepoint Twin at class Twin.go entry
			export what = arg0
		tracepoint Compare at class Odd$Whole.compareTo entry
			export what = "whole"
		tracepoint Deep at class Odd.deep exception
			export what = thrown.class, took = duration
		tracepoint Broken at class Odd$Broken.go entry
			export what = "broken"
	TP
	options="-Xss512k -XX:+UseSerialGC" start Odd 200 "$BATS_FILE_TMPDIR/twin/"
	ask 'From x In Fail, Hoard, Run, Sum, Twin, Compare, Broken GroupBy x.what Select x.what As what, COUNT As n' "$dir/odd.tp"
	touch "$dir/go"
	answer
	cat "$dir/said"
	grep -q 'Lambda.* cannot be changed, says the machine' "$dir/said"
	python3 - "$dir/told" <<-'PY'
		import json, sys
		told = {}
		for r in map(json.loads, open(sys.argv[1])):
		    assert "losses" not in r, r
		    told[str(r["what"])] = told.get(str(r["what"]), 0) + r["n"]
		proxy = [k for k in told if "Proxy" in k]
		assert len(proxy) == 1 and told.pop(proxy[0]) == 200, told
		# (an inner class calls what it overrides: it is seen in both)
		assert told == {"n0": 66, "n1": 67, "n2": 67, "java.lang.OutOfMemoryError": 200, "Odd$Plain": 200, "Odd$1": 400, "1": 400,
		                "whole": 200}, told
	PY
	quiet
	rm "$dir/go"
	wait "$pid"
	options="-Xss512k -XX:+UseSerialGC" start Odd 100 "$BATS_FILE_TMPDIR/twin/"
	ask 'From x In Use GroupBy x.bad, x.text Select x.bad As bad, x.text As text, COUNT As n, SUM(x.n) As sum, SUM(x.slow) As slow, SUM(x.inner) As inner' "$dir/odd.tp"
	touch "$dir/go"
	answer
	python3 - "$dir/told" <<-'PY'
		import json, sys
		rows = [json.loads(l) for l in open(sys.argv[1])]
		losses = {r["losses"] if isinstance(r.get("losses"), str) else json.dumps(r["losses"]) for r in rows if "losses" in r}
		rows = [r for r in rows if "n" in r]
		for r in rows:
		    assert r["bad"] is None, r
		    assert r["sum"] == r["slow"] == r["inner"], r
		assert sum(r["n"] for r in rows) == 100 and sum(r["sum"] for r in rows) == 5050, rows
		assert any("values_unread" in l for l in losses), losses
	PY
	quiet
}

@test "a method that is called without end is left alone after a while, which is told, and its result is right" {
	echo 'tracepoint Hot at class Hot.add entry export n = arg0' >"$dir/hot.tp"
	start Hot 200000000
	ask 'From h In Hot Select COUNT As n, SUM(h.n) As sum' "$dir/hot.tp"
	touch "$dir/go"
	answer
	grep -qx "sum $((200000 * 499500))" "$dir/out"
	grep -q advice_limited "$dir/told"
	grep -q places_left "$dir/told"
	quiet
}

@test "a program that ends while it is asked ends as it would" {
	start Shop 2000 50
	ask "$JOINED"
	touch "$dir/go"
	wait_until grep -q done "$dir/out"
	rm "$dir/go"
	wait "$pid"
	pid=''
	had=$asked
	wait "$asked" || true
	asked=''
	as_said
	# of files in the machine's folder nothing is left, although the machine was gone first
	[ -z "$(find /tmp -maxdepth 1 -name ".culprit-$had-*" -newermt "@$WAIT_BEGAN")" ]
	quiet
}

@test "two copies of our library are in one machine: each has what it wove" {
	cp "$BUILD/agent/jvm/libculprit-jvm.so" "$dir/other.so"
	chmod 755 "$dir/other.so"
	start Shop 3000 50
	ask "$JOINED"
	kill -9 "$asked"
	wait "$asked" || true
	export CULPRIT_JVM_AGENT=$dir/other.so
	# what the first one wove is still there
	ask "$JOINED"
	touch "$dir/go"
	answer
	as_said
	quiet
}

# garbage OPTIONS...: what objects carry is found though they move
garbage() {
	for o in "$@"; do
		options="$o -Xmn4m" start Shop 3000 50
		ask "$JOINED"
		touch "$dir/go"
		answer
		as_said
		quiet
		rm "$dir/go"
		wait "$pid"
	done
}

@test "all collectors of garbage, and the latest JDK" {
	[ "$LIVE" = all ] || skip "slow: make test-live"
	garbage -XX:+UseG1GC -XX:+UseParallelGC -XX:+UseSerialGC
	if java_is_8; then
		garbage -XX:+UseConcMarkSweepGC
		return
	fi
	garbage -XX:+UseZGC
	for java in /usr/lib/jvm/*25*/bin/java; do
		[ ! -x "$java" ] || garbage -XX:+UseG1GC -XX:+UseZGC
	done
}

@test "objects that carry survive a collector that moves them while they are read" {
	needs_newer ZGC
	garbage -XX:+UseZGC
}

@test "a machine in namespaces of its own, and of another user" {
	command -v setpriv >/dev/null || skip "needs setpriv"
	unshare --mount --pid --fork true 2>/dev/null || skip "no namespaces here"
	setpriv --reuid 65534 --regid 65534 --clear-groups "$java" -version 2>/dev/null || skip "another user cannot run this java"
	# what bats makes is nobody else's to read
	own=$(mktemp -d /tmp/culprit-faults.XXXXXX)
	cp -r "$classes/." "$dir/shop.tp" "$own"
	chmod -R a+rwX "$own"
	dir=$own classes=$own
	before="unshare --mount --pid --fork --kill-child --mount-proc setpriv --reuid 65534 --regid 65534 --clear-groups" start Shop 3000 50
	others=("$pid")
	pid=$(cat "/proc/$pid/task/$pid/children")
	pid=${pid// /}
	ask "$JOINED"
	touch "$dir/go"
	answer
	as_said
	quiet
}

# loaders: how many of the loaders that Odd drops are still there
loaders() {
	jcmd "$pid" GC.run >/dev/null
	if java_is_8; then
		jcmd "$pid" GC.class_histogram | awk '$4 == "java.net.URLClassLoader" { n = $2 } END { print n + 0 }'
	else
		jcmd "$pid" VM.classloader_stats | grep -c 'URLClassLoader' || true
	fi
}

few_loaders() {
	[ "$(loaders)" -le 2 ]
}

@test "loaders whose classes are woven are collected" {
	echo 'tracepoint Twin at class Twin.go entry export n = arg0' >"$dir/odd.tp"
	start Odd 200 "$BATS_FILE_TMPDIR/twin/"
	ask 'From x In Twin Select COUNT As n' "$dir/odd.tp"
	touch "$dir/go"
	wait_until grep -q done "$dir/out"
	wait_until few_loaders
	stop
	[ "$(sed -n 's/.*"n":\([0-9]*\).*/\1/p' "$dir/told" | awk '{ s += $1 } END { print s }')" = 200 ]
	quiet
}

# native_kb: what the machine itself has taken of memory, in KiB; the heap aside, and what its compilers have while they compile
native_kb() {
	jcmd "$pid" GC.run >/dev/null
	jcmd "$pid" VM.native_memory summary scale=KB |
		awk '/^-/ { left = /Compiler|Arena Chunk/ } /\(malloc=/ && !left { sub(/.*\(malloc=/, ""); sum += $0 + 0 } END { print sum }'
}

# rounds NUMBER BOUND_KB: nothing grows by more than that, after the first ten
rounds() {
	options="-XX:+UseSerialGC -XX:NativeMemoryTracking=summary" start Shop 100000000 200
	touch "$dir/go"
	"$BUILD/tests/unit/weave_rounds" "$pid" 10 "$dir/shop.tp" "$JOINED" 'From p In Shop.pack Select COUNT, SUM(p.amount)'
	first=$(native_kb)
	rss=$(sed -n 's/RssAnon:\s*\([0-9]*\) kB/\1/p' "/proc/$pid/status")
	"$BUILD/tests/unit/weave_rounds" "$pid" "$1" "$dir/shop.tp" "$JOINED" 'From p In Shop.pack Select COUNT, SUM(p.amount)'
	last=$(native_kb)
	echo "malloc $first, then $last; anonymous $rss, then $(sed -n 's/RssAnon:\s*\([0-9]*\) kB/\1/p' "/proc/$pid/status")"
	jcmd "$pid" VM.native_memory summary scale=KB
	[ $((last - first)) -lt "$2" ]
	exact
	quiet
}

@test "woven and taken out again and again under load, no memory is lost" {
	[ -x "$BUILD/tests/unit/weave_rounds" ] || skip "weave_rounds is not built"
	rounds 20 2048
}

@test "woven and taken out a thousand times under load" {
	[ "$LIVE" = all ] || skip "slow: make test-live"
	[ -x "$BUILD/tests/unit/weave_rounds" ] || skip "weave_rounds is not built"
	rounds 1000 8192
}

@test "beside the agent of OpenTelemetry, answers are exact" {
	[ "$LIVE" = all ] || skip "slow: make test-live"
	command -v mvn >/dev/null || skip "needs Maven"
	lib=${CULPRIT_CACHE:-$HOME/.cache/culprit}/otel
	jar=$lib/opentelemetry-javaagent-2.10.0.jar
	[ -e "$jar" ] || mvn -q dependency:copy -Dartifact=io.opentelemetry.javaagent:opentelemetry-javaagent:2.10.0 -DoutputDirectory="$lib" \
		>"$dir/mvn" 2>&1 || skip "it cannot be fetched"
	options="-XX:+UseSerialGC -javaagent:$jar -Dotel.traces.exporter=none -Dotel.metrics.exporter=none -Dotel.logs.exporter=none" start Shop 3000 50
	ask "$JOINED"
	touch "$dir/go"
	answer
	as_said
	! grep -i 'error\|exception\|culprit' "$dir/err" || false
}

@test "queries that come and go at random are exact for ten minutes" {
	[ "$LIVE" = all ] || skip "slow: make test-live"
	"$CULPRIT" hub --help 2>&1 | grep -q queries || skip "culprit is built without the bus"
	"$BATS_TEST_DIRNAME/jvm-soak" "$CULPRIT" "${SOAK_MINUTES:-10}"
}
