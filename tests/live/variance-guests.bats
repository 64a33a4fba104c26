#!/usr/bin/env bats
# culprit variance on programs that do what is hard to watch, and beside other tools that look at the same functions: whatever it says,
# the program lives, and its answers stay right.

bats_require_minimum_version 1.5.0

load wait.bash

setup() {
	[ "$(uname -m)" = x86_64 ] || skip "functions are watched on x86-64 only"
	[ "$(id -u)" = 0 ] || skip "needs root"
	DIR=$(mktemp -d /tmp/culprit-guests.XXXXXX)
	cd "$DIR" || return 1
	GUEST=
	OTHER=
	TIMES=2
	[ "$LIVE" = all ] && TIMES=12
	return 0
}

teardown() {
	[ -z "${OTHER:-}" ] || kill -9 "$OTHER" 2>/dev/null || true
	[ -z "${GUEST:-}" ] || kill -9 "$GUEST" 2>/dev/null || true
	[ -z "${DIR:-}" ] || rm -rf "$DIR"
}

# guest COMMAND...: runs it; its number is in GUEST
guest() {
	"$@" >answer 2>&1 3>&- 4>&- &
	GUEST=$!
	# an interpreter says when it is at work
	case $1 in
	/*) wait_runs "$GUEST" "$1" ;;
	*) wait_until grep -q ready answer ;;
	esac
}

# watch STATUS OPTION...: one session, whose status may be one of these ("0 1"); what it says is in "said"
watch() {
	local want=$1 got=0
	shift
	# shellcheck disable=SC2086  # options are several words
	timeout -s KILL 900 "$CULPRIT" variance --no-run ${TIME:---round 100ms --for 1s} -p "$GUEST" "$@" >told 2>said 3>&- 4>&- || got=$?
	[[ " $want " == *" $got "* ]] || { cat said answer; return 1; }
	kill -0 "$GUEST" || { cat said answer; return 1; }
}

# is_right: it was well, and right, until we end it
is_right() {
	local status=0
	kill "$GUEST"
	wait "$GUEST" || status=$?
	GUEST=
	cat answer
	[ "$status" = 143 ] && ! grep -q wrong answer
}

# sessions NAME OPTION...: a guest of tests/variance/guests is watched again and again
sessions() {
	local name=$1
	shift
	guest "$BUILD/tests/variance/guest-$name" 600
	for _ in $(seq "$TIMES"); do
		watch "${MAY:-0 1}" --interval process_order "$@"
	done
	python3 "$ROOT/tests/live/variance_unpatched.py" "$GUEST"
	is_right
}

@test "handlers of signals that interrupt what is patched" {
	sessions interrupted
}

@test "stacks that threads hand on" {
	sessions migrating
}

@test "longjmp, also out of a handler" {
	sessions jumping
}

@test "forks and programs that are started all the time" {
	# when it waits for a child that has its memory, nobody can be asked to let us in
	MAY="0 1 2" sessions spawning
}

@test "code that the program makes itself looks at return addresses" {
	guest "$BUILD/tests/variance/guest-generating" 600
	# long enough for one call, on a machine that has much else to do
	TIME="--round 100ms --for 6s" watch "0 1" --interval pack_order
	grep -q "from code that the program has made itself" told
	is_right
}

@test "one thread in a sandbox: the process is refused" {
	for how in strict filter; do
		guest "$BUILD/tests/variance/guest-sandboxed" 600 $how
		watch 2 --interval process_order
		grep -q seccomp said
		[ "$(find "/proc/$GUEST/task" -mindepth 1 -maxdepth 1 | wc -l)" = 2 ]
		is_right
	done
}

@test "uprobes of another tool on the same functions, in both orders" {
	command -v bpftrace >/dev/null || skip "needs bpftrace"
	local bin="$BUILD/tests/variance/guest-interrupted" probes
	probes="uprobe:$bin:tiny, uprobe:$bin:process_order { @[func] = count(); } uretprobe:$bin:tiny { @ = count(); }"
	guest "$bin" 600
	for i in $(seq "$TIMES"); do
		[ $((i % 2)) = 0 ] || { timeout -s INT 3 bpftrace -p "$GUEST" -e "$probes" >/dev/null 2>&1 3>&- 4>&- & OTHER=$!; sleep 0.$((i % 9 + 1)); }
		timeout -s KILL 900 "$CULPRIT" variance --no-run --round 50ms --for 2s -p "$GUEST" --overhead 50% --interval process_order >told 2>said 3>&- 4>&- &
		local watcher=$!
		[ $((i % 2)) = 1 ] || { sleep 1.$((i % 9)); timeout -s INT 3 bpftrace -p "$GUEST" -e "$probes" >/dev/null 2>&1 3>&- 4>&- & OTHER=$!; }
		wait "$watcher" || true
		wait "$OTHER" || true
		OTHER=
		kill -0 "$GUEST" || { cat said answer; return 1; }
	done
	python3 "$ROOT/tests/live/variance_unpatched.py" "$GUEST"
	is_right
}

@test "gdb is there already: refused, with its number" {
	command -v gdb >/dev/null || skip "needs gdb"
	guest "$BUILD/tests/variance/guest-jumping" 600
	gdb -q -nx -p "$GUEST" -ex continue </dev/null >gdb.said 2>&1 3>&- 4>&- &
	OTHER=$!
	wait_until grep -q "^TracerPid:.[1-9]" "/proc/$GUEST/status"
	watch 2 --interval process_order
	grep -q "is being traced by" said
	kill -9 "$OTHER"
	OTHER=
	wait_until grep -q "^TracerPid:.0" "/proc/$GUEST/status"
	watch "0 1" --interval process_order
}

@test "perf samples it meanwhile" {
	command -v perf >/dev/null || skip "needs perf"
	guest "$BUILD/tests/variance/guest-jumping" 600
	perf record -q -g -F 997 -o perf.data -p "$GUEST" -- sleep 4 >/dev/null 2>&1 3>&- 4>&- || true &
	OTHER=$!
	watch "0 1" --interval process_order
	watch "0 1" --interval process_order
	wait "$OTHER" || true
	OTHER=
	is_right
}

@test "Java, whose compiled code calls what is watched" {
	command -v javac >/dev/null || skip "needs a JDK"
	cp "$ROOT/tests/variance/guests/Allocate.java" .
	javac Allocate.java
	guest java -XX:+UseSerialGC -Xmx300m -Xmn20m -cp . Allocate 600
	watch "0 1 2" --for 4s --interval OptoRuntime::new_array_nozero_C --root OptoRuntime::new_array_C
	watch "0 1 2" --for 3s --interval JVM_MonitorWait --root JVM_FillInStackTrace
	is_right
}

@test "Python, whose interpreter is what is watched" {
	guest python3 -c '
import json, time
def boom(d):
    if not d: raise ValueError
    return boom(d - 1)
end = time.time() + 600
print("ready", flush=True)
while time.time() < end:
    a = [{"k": k} for k in range(200)]
    if json.loads(json.dumps(a)) != a: print("wrong")
    try: boom(20)
    except ValueError: pass
print("right")'
	watch "0 1 2" --interval _PyEval_EvalFrameDefault
	watch "0 1 2" --interval PyObject_Malloc
	is_right
}
