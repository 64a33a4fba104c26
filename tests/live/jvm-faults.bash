# Java programs that are asked while something goes wrong.
load javas.bash
load wait.bash

faults_setup() {
	command -v javac >/dev/null || skip "needs a JDK"
	[ "$(id -u)" = 0 ] || skip "entering a process needs root"
	dir=$BATS_TEST_TMPDIR
	chmod 755 "$dir"
	classes=$BATS_FILE_TMPDIR/classes
	java=java
	asked='' others=() own='' pid=''
	cat >"$dir/shop.tp" <<-'TP'
		tracepoint Shop.order at class Shop.order entry begins a request
			export customer = arg0, amount = arg1
		tracepoint Shop.pack at class Shop.pack exit
			export amount = arg0, into = arg1, weight = return, took = duration
	TP
}

# once for the file
faults_compile() {
	command -v javac >/dev/null || return 0
	local classes=$BATS_FILE_TMPDIR/classes from=$BATS_TEST_DIRNAME/jvm
	mkdir -p "$classes" "$BATS_FILE_TMPDIR/twin"
	python3 "$from/odd_classes.py" "$classes"
	cp "$from/Odd.java" "$classes"
	! java_is_8 || without_records "$classes/Odd.java"
	javac_for java -nowarn -d "$classes" "$classes"/{Vast,Odd}.java "$from"/{Shop,Quirks,Peek,Hot}.java
	javac_for java -d "$BATS_FILE_TMPDIR/twin" "$from/Twin.java"
	jar cfm "$BATS_FILE_TMPDIR/peek.jar" "$from/Peek.mf" -C "$classes" .
	chmod -R a+rX "$BATS_FILE_TMPDIR"
}

# without_records FILE: Java 8 has none, and a class does for one
without_records() {
	sed -i 's/^    record \(\w*\)(int a, int b) {/    static class \1 {\n        final int a, b;\n\n        \1(int a, int b) {\n            this.a = a;\n            this.b = b;\n        }\n/' "$1"
}

faults_teardown() {
	[ -n "${dir:-}" ] || return 0
	rm -f "$dir/go"
	local p
	for p in ${asked:-} "${others[@]}" ${pid:-}; do
		kill -9 "$p" 2>/dev/null || true
	done
	[ -z "${own:-}" ] || rm -rf "$own"
}

# start CLASS ARGUMENTS...: a program of ours, with the options of the machine in $options, and what goes before it in $before
start() {
	rm -f "$dir/go"
	# shellcheck disable=SC2086
	${before:-} "$java" ${options:--XX:+UseSerialGC} -Xmx128m -cp "$classes" "$1" "$dir/go" "${@:2}" >"$dir/out" 2>"$dir/err" 3>&- &
	pid=$!
	wait_until grep -q ready "$dir/out"
}

# ask QUERY [TRACEPOINTS]: until it is told to stop; returns when the query is there
ask() {
	"$CULPRIT" query --live --pid "$pid" --tracepoints "${2:-$dir/shop.tp}" --for 1200s --json "$1" >"$dir/told" 2>"$dir/said" 3>&- &
	asked=$!
	wait_until woven
	kill -0 "$asked"
}

woven() {
	kill -0 "$asked" || return 0
	has_answered "$pid" "$asked"
}

stop() {
	kill -INT "$asked"
	wait "$asked" || { echo "ended with $?"; cat "$dir/said" "$dir/told"; false; }
	asked=''
}

answer() {
	wait_until grep -q done "$dir/out"
	stop
}

# quiet: the program says nothing but what it is to, the machine's own word about agents aside
quiet() {
	! grep -v '^WARNING: \|^Picked up ' "$dir/err"
}

# as_said: what was told, added up by customer, is what the program says of itself
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

# peek OPTIONS: the agent beside ours does something in the program
peek() {
	if java_is_8; then # its jcmd cannot
		"$BUILD/tests/unit/jvm_load" "$pid" "$(sed -n 's,^.* \(/.*\)/libjava.so$,\1/libinstrument.so,p' "/proc/$pid/maps" | head -n 1)" \
			"$BATS_FILE_TMPDIR/peek.jar=$1"
		return
	fi
	jcmd "$pid" JVMTI.agent_load "$BATS_FILE_TMPDIR/peek.jar" "\"$1\"" >"$dir/jcmd" 2>&1 || { cat "$dir/jcmd"; return 1; }
	grep -q 'return code: 0' "$dir/jcmd" || { cat "$dir/jcmd"; return 1; }
}

CARRIED="java.util.concurrent.ThreadPoolExecutor java.util.concurrent.FutureTask java.lang.Thread"

# look NAME: which bytes the machine holds of what we weave, in a file of the name. Twice: of classes that it has archived the machine
# gives others when they were transformed once, though nobody has changed anything.
look() {
	peek "look $dir/$1 Shop $CARRIED"
	peek "look $dir/$1 Shop $CARRIED"
	grep -q end "$dir/$1"
}

no_thread() {
	! grep -qx culprit "/proc/$pid/task/"*/comm
}

# taken_back: all of it
taken_back() {
	wait_until no_thread
	kill -0 "$pid"
	look now
	diff "$dir/before" "$dir/now"
}

JOINED='From p In Shop.pack Join o In First(Shop.order) On o -> p GroupBy o.customer Select o.customer As customer, COUNT As n, SUM(p.amount) As amount'
