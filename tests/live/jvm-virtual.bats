#!/usr/bin/env bats
# Requests on virtual threads, thousands of them over few threads that carry them: a program that counts itself (jvm/Virtual.java) says what
# belongs to what, and queries and recordings must tell the same (jvm/virtual_check.py). LIVE=all: more of them, and JDK 21 as well.
load wait.bash

setup_file() {
	jdk=$(newest_jdk)
	export jdk
	[ -z "$jdk" ] || "$jdk/bin/javac" --release 21 -d "$BATS_FILE_TMPDIR" "$BATS_TEST_DIRNAME/jvm/Virtual.java"
}

setup() {
	command -v python3 >/dev/null || skip "needs python3"
	[ -n "$jdk" ] || skip "needs a JDK of version 21 or later"
	dir=$BATS_TEST_TMPDIR
	callers=300
	[ "$LIVE" != all ] || callers=2000
	few=40 # of each call a row is told: at most 2,000 a second
	cat >"$dir/virtual.tp" <<-'TP'
		tracepoint Virtual.request at class Virtual.request entry begins a request
			export scenario = arg0, name = arg1
		tracepoint Virtual.done at class Virtual.done entry
			export scenario = arg0, name = arg1
		tracepoint Virtual.after at class Virtual.after entry
			export scenario = arg0, name = arg1
		tracepoint Virtual.waited at class Virtual.work exit at class Virtual.step exit
			export id = arg0, took = duration
	TP
	cat >"$dir/spans.tp" <<-'TP'
		tracepoint Virtual.request at class Virtual.request entry begins a request export id = arg2
		tracepoint Virtual.work at class Virtual.work entry export id = arg0
		tracepoint Virtual.step at class Virtual.step entry export id = arg0
	TP
}

teardown() {
	rm -f "$dir/go"
	for p in ${asked:-} ${pid:-}; do
		kill -9 "$p" 2>/dev/null || true
	done
}

# newest_jdk: its home, if it has virtual threads
newest_jdk() {
	local javac version best=20 home=
	for javac in "$(command -v javac || true)" /usr/lib/jvm/*/bin/javac; do
		[ -x "$javac" ] || continue
		version=$("$javac" -version 2>&1 | sed -nE 's/^javac ([0-9]+).*/\1/p')
		[ "${version:-0}" -gt "$best" ] || continue
		best=$version
		home=$(dirname "$(dirname "$(realpath "$javac")")")
	done
	echo "$home"
}

# every_java: those that have virtual threads
every_java() {
	echo "$jdk/bin/java"
	[ "$LIVE" != all ] || "$BATS_TEST_DIRNAME/jvm/fetch-java" 21.0.8.2
}

# start JAVA CALLERS [REQUESTS [late]]
start() {
	rm -f "$dir/go"
	"$1" -XX:+EnableDynamicAgentLoading -Djdk.virtualThreadScheduler.parallelism=3 -cp "$BATS_FILE_TMPDIR" Virtual "$dir/go" "$2" "${3:-5}" ${4:+"$4"} >"$dir/out" 2>"$dir/err" 3>&- &
	pid=$!
	wait_until grep -q ready "$dir/out"
}

stop() {
	rm "$dir/go"
	wait "$pid"
	! grep error "$dir/out"
	[ ! -s "$dir/err" ] || { cat "$dir/err"; false; }
	pid=
}

woven() {
	kill -0 "$asked" || { cat "$dir/said"; return 1; }
	has_answered "$pid" "$asked"
}

# query QUERY TOLD
query() {
	"$CULPRIT" query --live --pid "$pid" --tracepoints "$dir/virtual.tp" --for 300s --json "$1" >"$2" 2>"$dir/said" 3>&- &
	asked=$!
	wait_until woven
}

# ask WHAT QUERY: of a program that begins when the query is there, and is done
ask() {
	query "$2" "$dir/told"
	touch "$dir/go"
	wait_until grep -q '^done$' "$dir/out"
	kill -INT "$asked"
	wait "$asked" || { echo "ended with $?"; cat "$dir/said" "$dir/told"; false; }
	asked=
	python3 "$BATS_TEST_DIRNAME/jvm/virtual_check.py" "$1" "$dir/out" "$dir/told"
}

# a_join EMITS JOINS: the query
a_join() {
	local keys="j.scenario, j.name, e.scenario, e.name"
	echo "From e In $1 Join j In $2 On j -> e GroupBy $keys Select $keys, COUNT"
}

took='From w In Virtual.waited Select w.id, w.took, w.thread'

# joined WHAT EMITS JOINS [late]
joined() {
	local java
	for java in $(every_java); do
		start "$java" "$callers" 5 "${4:-}"
		ask "$1" "$(a_join "$2" "$3")"
		stop
	done
}

@test "what virtual threads do for a request carries what it packed, wherever they go on" {
	joined "done" Virtual.done 'First(Virtual.request)'
}

@test "who waits for virtual threads carries what they packed" {
	joined after Virtual.after Virtual.done
}

@test "virtual threads do not see what others pack beside them" {
	joined pair Virtual.done Virtual.done late
}

@test "calls are told with their time and their own thread, whoever ran on the same carrier meanwhile" {
	for java in $(every_java); do
		start "$java" "$few" 5 late
		ask took "$took"
		stop
	done
}

@test "recorded calls nest as they were made" {
	for java in $(every_java); do
		start "$java" "$few"
		rm -f "$dir/run"
		"$CULPRIT" record --jvm -p "$pid" -o "$dir/run" --no-lines --tracepoints "$dir/spans.tp" -- bash -c '. "$0"; touch "$1/go"; wait_until grep -q "^done$" "$1/out"' \
			"$BATS_TEST_DIRNAME/wait.bash" "$dir" >"$dir/told" 2>"$dir/said" 3>&- || { echo "ended with $?"; cat "$dir/said" "$dir/told"; false; }
		"$CULPRIT" export "$dir/run" --format otlp -o "$dir/spans"
		python3 "$BATS_TEST_DIRNAME/jvm/virtual_check.py" spans "$dir/out" "$dir/spans"
		! grep 'dropped\|not in the input\|never closed' "$dir/told"
		stop
	done
}

no_thread() {
	! grep -qx culprit "/proc/$pid/task/"*/comm
}

# glimpse SIGNAL WHAT QUERY: for as long as it takes to tell something
glimpse() {
	nr=$((${nr:-0} + 1))
	query "$3" "$dir/told.$nr.$2"
	wait_until test -s "$dir/told.$nr.$2"
	kill "-$1" "$asked"
	wait "$asked" || [ "$1" = KILL ]
	asked=
	[ "$1" != KILL ] || wait_until no_thread
}

@test "queries that come and go while virtual threads run mix nothing up" {
	for java in $(every_java); do
		rm -f "$dir"/told.*
		start "$java" 5 0
		touch "$dir/go"
		glimpse KILL "done" "$(a_join Virtual.done 'First(Virtual.request)')"
		glimpse INT took "$took"
		if [ "$LIVE" = all ]; then
			glimpse INT after "$(a_join Virtual.after Virtual.done)"
			glimpse KILL took "$took"
			glimpse INT took "$took"
		fi
		stop
		for told in "$dir"/told.*; do
			# (of who was killed the last line may not be whole)
			sed -i '/}$/!d' "$told"
			python3 "$BATS_TEST_DIRNAME/jvm/virtual_check.py" "${told##*.}" "$dir/out" "$told" some
		done
	done
}
