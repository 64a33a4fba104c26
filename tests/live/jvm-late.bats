#!/usr/bin/env bats
# Classes that are loaded when queries are there already, by several threads at once: no call is missed. LIVE=all: more of them, and also with
# JDK 25 and two of JDK 21, of which one lets threads use a class that another one still prepares.
load wait.bash

setup_file() {
	command -v javac >/dev/null || return 0
	{
		echo "class All { static void call(int i) { switch (i) {"
		for i in $(seq 0 199); do
			echo "case $i: One$i.call(); new Two$i().call(); break;"
		done
		echo "} } } abstract class Above { int n; abstract void call(); }"
		printf 'class Two%d extends Above { void call() { n++; } }\n' $(seq 0 199)
		printf 'class One%d { static int n; static void call() { n++; } }\n' $(seq 0 199)
	} >"$BATS_FILE_TMPDIR/Ones.java"
	javac --release 8 -nowarn -Xlint:-options -d "$BATS_FILE_TMPDIR" "$BATS_FILE_TMPDIR/Ones.java" "$BATS_TEST_DIRNAME/jvm/Late.java"
}

setup() {
	command -v javac >/dev/null || skip "there is no JDK"
	dir=$BATS_TEST_TMPDIR
	echo 'tracepoint One.call at class One*.call entry at class Above+.call entry' >"$dir/one.tp"
	classes=50
	[ "$LIVE" != all ] || classes=200
}

teardown() {
	rm -f "$dir/go"
	for p in ${asked:-} ${pid:-}; do
		kill -9 "$p" 2>/dev/null || true
	done
}

every_java() {
	command -v java
	[ "$LIVE" != all ] || "$BATS_TEST_DIRNAME/jvm/fetch-java" 21.0.4.1 21.0.8.2 25.0.2.1
}

woven() {
	kill -0 "$asked" || { cat "$dir/said"; return 1; }
	has_answered "$pid" "$asked"
}

# calls JAVA: as the program has counted them, and as they are told
calls() {
	"$1" -cp "$BATS_FILE_TMPDIR" Late "$dir/go" "$classes" 6 >"$dir/out" 2>"$dir/err" 3>&- &
	pid=$!
	wait_until grep -q ready "$dir/out"
	"$CULPRIT" query --live --pid "$pid" --tracepoints "$dir/one.tp" --for 300s --json 'From c In One.call Select COUNT' \
		>"$dir/told" 2>"$dir/said" 3>&- &
	asked=$!
	wait_until woven
	touch "$dir/go"
	wait_until grep -q '^calls' "$dir/out"
	kill -INT "$asked"
	wait "$asked" || { cat "$dir/said" "$dir/told"; false; }
	asked=
	rm "$dir/go"
	wait "$pid"
	pid=
	python3 - "$dir/told" "$(sed -n 's/^calls //p' "$dir/out")" <<-'PY'
		import json, sys
		seconds = {r["time"]: r["COUNT"] for r in map(json.loads, open(sys.argv[1])) if "COUNT" in r}
		print("%d calls of %s were told" % (sum(seconds.values()), sys.argv[2]))
		sys.exit(sum(seconds.values()) != int(sys.argv[2]))
	PY
}

@test "calls of classes that several threads use for the first time at once are all told" {
	for java in $(every_java); do
		calls "$java"
	done
}
