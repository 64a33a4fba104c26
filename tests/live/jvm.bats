#!/usr/bin/env bats
# Queries of running Java programs: one that counts itself, in every JDK of the machine; what becomes of it when we are killed.
load javas.bash
load ports.bash
load wait.bash

setup() {
	command -v javac >/dev/null || skip "needs a JDK"
	dir=$BATS_TEST_TMPDIR
	compile java
	cat >"$dir/shop.tp" <<-'TP'
		tracepoint Shop.order at class Shop.order entry begins a request
			export customer = arg0, amount = arg1
		tracepoint Shop.sell at class Shop.sell(int) entry
			export amount = arg0, clerks = this.clerks.getPoolSize()
		tracepoint Shop.pack at class Shop.pack exit
			export amount = arg0, into = arg1, weight = return, took = duration
		tracepoint Forge.order at class Forge.order entry begins a request
			export customer = arg0
		tracepoint Forge.piece at class Forge.piece entry
			export number = arg0
		tracepoint Shop.packed at class Shop.pack exit at class Shop.pack exception
			export took = duration
	TP
}

teardown() {
	rm -f "$dir/go"
	for p in ${asked:-} ${pid:-} ${server:-}; do
		kill -9 "$p" 2>/dev/null || true
	done
}

# compile JAVA: for the oldest of those that run it; Java 8 needs its own
compile() {
	local release=11
	! java_is_8 "$1" || release=8
	javac --release $release -Xlint:-options -d "$dir" "$BATS_TEST_DIRNAME/jvm/Shop.java" "$BATS_TEST_DIRNAME/jvm/Forge.java"
}

# shop_start ORDERS PAUSE [JAVA]
shop_start() {
	"${3:-java}" -XX:+UseSerialGC -cp "$dir" Shop "$dir/go" "$1" "$2" >"$dir/out" 2>"$dir/err" 3>&- &
	pid=$!
	wait_until grep -q ready "$dir/out"
}

# ask QUERY: until it is told to stop; returns when the query is there
ask() {
	"$CULPRIT" query --live --pid "$pid" --tracepoints "$dir/shop.tp" --for 1200s --json "$1" >"$dir/told" 2>"$dir/said" 3>&- &
	asked=$!
	wait_until woven
}

woven() {
	kill -0 "$asked" || { cat "$dir/said"; return 1; }
	has_answered "$pid" "$asked"
}

answer() {
	wait_until grep -q done "$dir/out"
	kill -INT "$asked"
	wait "$asked" || { echo "ended with $?"; cat "$dir/said" "$dir/told"; false; }
	asked=
}

# as_said COLUMN...: what was told, added up by customer, is what the program says of itself
as_said() {
	python3 - "$dir/out" "$dir/told" <<-'PY'
		import json, sys
		truth = {f[0]: (int(f[1]), int(f[2])) for f in map(str.split, open(sys.argv[1])) if len(f) == 3}
		told = {}
		for row in map(json.loads, open(sys.argv[2])):
		    assert "losses" not in row, row
		    if "customer" in row:
		        was = told.get(row["customer"], (0, 0))
		        told[row["customer"]] = was[0] + row["n"], was[1] + row["amount"]
		assert len(truth) == 3 and told == truth, (told, truth)
	PY
}

# every_java: those of the system, version 8 where it was fetched, and with LIVE=all others as well
every_java() {
	local java
	for java in /usr/lib/jvm/*/bin/java; do
		[ -L "$(dirname "$(dirname "$java")")" ] || [ ! -x "$java" ] || echo "$java"
	done
	if [ "$LIVE" = all ]; then
		"$BATS_TEST_DIRNAME/jvm/fetch-java" 11.0.13.1 21.0.8.2
		"$BATS_TEST_DIRNAME/jvm/fetch-java8" 2>"$dir/why" || sed 's/^/# /' "$dir/why" >&3
	else
		"$BATS_TEST_DIRNAME/jvm/fetch-java8" --kept
	fi
}

@test "what happened before is counted, in every version of Java" {
	every_java >"$dir/javas"
	while read -r java <&9; do
		rm -f "$dir/go"
		compile "$java"
		shop_start 3000 50 "$java"
		ask 'From p In Shop.pack Join o In First(Shop.order) On o -> p GroupBy o.customer Select o.customer As customer, COUNT As n, SUM(p.amount) As amount'
		touch "$dir/go"
		answer
		as_said
		rm "$dir/go"
		wait "$pid"
		# the machine's own word about agents aside
		! grep -v '^WARNING: ' "$dir/err" || false
	done 9<"$dir/javas"
}

@test "what a method is called with is counted" {
	shop_start 3000 50
	ask 'From o In Shop.order GroupBy o.customer Select o.customer As customer, COUNT As n, SUM(o.amount) As amount'
	touch "$dir/go"
	answer
	as_said
	[ ! -s "$dir/err" ]
}

@test "results, durations and fields of what is called are exported" {
	shop_start 700 50
	ask 'From p In Shop.pack GroupBy p.into Select p.into As into, COUNT As n, SUM(p.weight) As weight, MIN(p.took) As took'
	touch "$dir/go"
	answer
	python3 - "$dir/told" <<-'PY'
		import json, sys
		rows = [r for r in map(json.loads, open(sys.argv[1])) if "into" in r]
		assert rows and {r["into"] for r in rows} == {"box"}, rows
		assert sum(r["n"] for r in rows) == 700 and sum(r["weight"] for r in rows) == 3 * 2800, rows
		assert min(r["took"] for r in rows) > 0, rows
	PY
}

@test "several places of one method know how long it took" {
	shop_start 700 50
	ask 'From p In Shop.pack, Shop.packed GroupBy p.tracepoint Select p.tracepoint As at, COUNT As n, MIN(p.took) As took'
	touch "$dir/go"
	answer
	python3 - "$dir/told" <<-'PY'
		import collections, json, sys
		told = collections.Counter()
		for row in map(json.loads, open(sys.argv[1])):
		    assert "losses" not in row and row["took"] > 0, row
		    told[row["at"]] += row["n"]
		assert told == {"Shop.pack": 700, "Shop.packed": 700}, told
	PY
}

@test "methods are found by their annotations, and by those of their classes" {
	cat >"$dir/shop.tp" <<-'TP'
		tracepoint Timed at class *.@Timed entry
			export amount = arg0
		tracepoint Whole at class Shop.@Shop$Timed(int,String) entry
			export amount = arg0
		tracepoint Sells at class @Sells.order entry
			export amount = arg1
		tracepoint Both at class @Sells.@java.lang.Deprecated entry
			export amount = arg0
		tracepoint Other at class @Other.order at class @Timed.order at class Shop.@Sells at class Shop.@imed entry
			export amount = arg1
	TP
	shop_start 700 50
	ask 'From p In Timed, Whole, Sells, Both, Other GroupBy p.tracepoint Select p.tracepoint As at, COUNT As n, SUM(p.amount) As amount'
	touch "$dir/go"
	answer
	python3 - "$dir/told" <<-'PY'
		import collections, json, sys
		told = collections.Counter()
		for row in map(json.loads, open(sys.argv[1])):
		    if "at" in row:
		        told[row["at"]] += row["n"]
		        told[row["at"] + " sum"] += row["amount"]
		want = {}
		for at in "Timed", "Whole", "Sells", "Both":
		    want.update({at: 700, at + " sum": 2800})
		assert told == want, told
	PY
}

@test "several tracepoints may begin a request at the same method" {
	cat >"$dir/shop.tp" <<-'TP'
		tracepoint Who at class Shop.order entry
			export customer = arg0
		tracepoint First at class Shop.order entry begins a request
			export amount = arg1
		tracepoint Again at class Sho*.order entry begins a request
			export customer = arg0
		tracepoint Pack at class Shop.pack exit
			export amount = arg0
	TP
	shop_start 700 50
	ask 'From p In Pack Join f In Who On f -> p Join a In First On a -> p Join w In Again On w -> p GroupBy w.customer
		Select w.customer As customer, COUNT As n, SUM(a.amount) As amount'
	touch "$dir/go"
	answer
	as_said
}

@test "when we are killed the program runs on, and everything is as it was" {
	shop_start 100000000 50
	ask 'From p In Shop.pack Join o In First(Shop.order) On o -> p GroupBy o.customer Select o.customer, COUNT'
	touch "$dir/go"
	sleep 1 # any moment will do
	kill -9 "$asked"
	# the thread of ours that looks after it goes when all was taken back
	wait_until no_thread
	kill -0 "$pid"
	[ ! -s "$dir/err" ]
	# and again
	ask 'From o In Shop.order GroupBy o.customer Select o.customer, COUNT'
	wait_until grep -q '"COUNT":[1-9]' "$dir/told"
	kill -INT "$asked"
	wait "$asked" || { echo "ended with $?"; cat "$dir/said" "$dir/told"; false; }
	asked=
	grep -q '"COUNT":[1-9]' "$dir/told"
}

no_thread() {
	! grep -qx culprit "/proc/$pid/task/"*/comm
}

@test "a class that is not there is said to be missing" {
	shop_start 300 50
	cat >>"$dir/shop.tp" <<-'TP'
		tracepoint Nowhere at class no.such.Thing.run entry
	TP
	run timeout 300 "$CULPRIT" query --live --pid "$pid" --tracepoints "$dir/shop.tp" --for 500ms --json 'From n In Nowhere Select COUNT'
	[ "$status" = 1 ]
	[[ $output == *"no.such.Thing.run"* ]]
}

@test "what hands bags on tells how often it did" {
	shop_start 300 50
	ask 'From p In Shop.pack Join o In First(Shop.order) On o -> p GroupBy o.customer Select o.customer, COUNT'
	touch "$dir/go"
	wait_until grep -q done "$dir/out"
	"$CULPRIT" attach "$pid" --hops --json >"$dir/hops"
	python3 - "$dir/hops" <<-'PY'
		import json, sys
		hops = {(h["method"].split("(")[0].split("/")[-1], h["action"]): h for h in map(json.loads, open(sys.argv[1])) if h["section"] == "hop"}
		assert hops["ThreadPoolExecutor.execute", "keep"]["gave"] == 300, hops["ThreadPoolExecutor.execute", "keep"]
		assert hops["ThreadPoolExecutor.beforeExecute", "take"]["came"] == 300, hops["ThreadPoolExecutor.beforeExecute", "take"]
		assert sum(h["lost"] for h in hops.values()) == 0
	PY
}

@test "requests go on from a Java program to a native one" {
	local chain=$BUILD/tests/bench/chain port
	[ -x "$chain" ] || skip "needs chain"
	port=$(port_find)
	javac_for java -d "$dir" "$BATS_TEST_DIRNAME/jvm/Asker.java"
	cat >"$dir/shop.tp" <<-'TP'
		tracepoint Asker.begin at class Asker.begin entry begins a request
			export id = arg0
		tracepoint Server.serve at function chain!request_serve entry
			export id = arg0
	TP
	"$chain" serve "$port" >"$dir/served" 2>&1 3>&- &
	server=$!
	wait_until grep -q " 0100007F:$(printf %04X $port) .* 0A " /proc/net/tcp
	java -cp "$dir" Asker "$port" "$dir/go" 2000 >"$dir/out" 2>"$dir/err" 3>&- &
	pid=$!
	wait_until grep -q ready "$dir/out"
	"$CULPRIT" query --live --pid "$pid,$server" --java-sockets --tracepoints "$dir/shop.tp" --for 1200s --json \
		'From s In Server.serve Join b In MostRecent(Asker.begin) On b -> s Where s.id > 0 Select COUNT As n, MIN(s.id - b.id) As least, MAX(s.id - b.id) As most' \
		>"$dir/told" 2>"$dir/said" 3>&- &
	asked=$!
	wait_until woven
	# and until the server is patched, which comes after
	wait_until native_woven
	touch "$dir/go"
	answer
	[ ! -s "$dir/err" ]
	python3 - "$dir/told" <<-'PY'
		import json, sys
		rows = [r for r in map(json.loads, open(sys.argv[1])) if "n" in r]
		assert sum(r["n"] for r in rows) == 2000 and {(r["least"], r["most"]) for r in rows} == {(0, 0)}, rows
	PY
}

native_woven() {
	! python3 "$ROOT/tests/live/variance_unpatched.py" "$server"
}

# Each order is made by a machine of its own, which a shell starts.
@test "a Java machine that a request starts works for it" {
	java -XX:+UseSerialGC -cp "$dir" Forge "$dir/go" 4 >"$dir/out" 2>"$dir/err" 3>&- &
	pid=$!
	wait_until grep -q ready "$dir/out"
	ask 'From p In Forge.piece Join o In First(Forge.order) On o -> p GroupBy o.customer, p.procName Select o.customer, p.procName, COUNT As n'
	touch "$dir/go"
	answer
	cat "$dir/out" "$dir/told" "$dir/said" "$dir/err"
	[ ! -s "$dir/err" ] # it says nothing of ours, and its workers have said what they should
	python3 - "$dir/told" >"$dir/sums" <<-'PY'
		import collections, json, sys
		sums = collections.Counter()
		for row in map(json.loads, open(sys.argv[1])):
		    if "n" in row:
		        sums[row["o.customer"], row["p.procName"]] += row["n"]
		for key in sorted(sums):
		    print(*key, sums[key])
	PY
	printf '%s\n' 'ann alone 12' 'ann worker 10' 'bob worker 24' | diff - "$dir/sums"
	# each of the four stood still until we were there
	! grep machines_ "$dir/told" || false
}
