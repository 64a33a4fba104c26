#!/usr/bin/env bats
# culprit variance on targets that cannot be watched, that end, stand still or are killed, and culprit killed itself: a word
# that says what is wrong, and a target that is none the worse for it.

bats_require_minimum_version 1.5.0

load wait.bash

setup() {
	[ "$(uname -m)" = x86_64 ] || skip "functions are watched on x86-64 only"
	[ "$(id -u)" = 0 ] || skip "needs root"
	DIR=$(mktemp -d /tmp/culprit-bad.XXXXXX)
	chmod 755 "$DIR"
	cd "$DIR" || return 1
	SHOP=
}

teardown() {
	[ -z "${SHOP:-}" ] || kill -9 "$SHOP" 2>/dev/null || true
	[ -z "${DIR:-}" ] || rm -rf "$DIR"
}

# compile COMPILER NAME [OPTION...]: the shop, compiled so
compile() {
	local cc=$1 name=$2
	shift 2
	command -v "$cc" >/dev/null || skip "needs $cc"
	"$cc" -O2 "$@" "$ROOT/tests/live/variance_shop.c" -o "$name" 2>"$name.said" || skip "$cc $* makes no programs here"
}

# open_shop [SECONDS] [PROGRAM]: runs it; its number is in SHOP
open_shop() {
	[ -e "${2:-shop}" ] || compile gcc "${2:-shop}"
	"./${2:-shop}" "${1:-1200}" >orders 2>&1 3>&- 4>&- &
	SHOP=$!
	wait_runs "$SHOP" "${2:-shop}"
}

# variance STATUS OPTION...: runs it; what it says is in "said", what it answers in "answer"
variance() {
	local want=$1 got=0
	shift
	timeout -s KILL 900 "$CULPRIT" variance --no-run "$@" >answer 2>said 3>&- 4>&- || got=$?
	cat said answer
	[ "$got" = "$want" ]
}

# the program goes on as if nothing had been
is_unharmed() {
	kill -0 "$SHOP"
	python3 "$ROOT/tests/live/variance_unpatched.py" "$SHOP"
}

@test "a function that does not exist: the nearest is offered" {
	open_shop
	variance 2 --interval proces_order -p "$SHOP"
	grep -q "did you mean process_order" said
	is_unharmed
}

@test "an interval that is no interval" {
	open_shop
	variance 2 --interval 'process_order(id=arg9)' -p "$SHOP"
	grep -q "arg0 to arg5" said
	variance 2 -p "$SHOP"
	grep -q -- "--interval" said
	is_unharmed
}

@test "no such process, one of the kernel, no such program" {
	variance 2 --interval process_order -p 4194303
	grep -q "no process 4194303" said
	variance 2 --interval process_order -- ./nothing
	grep -q "cannot be started" said
	if [ -e /proc/2/status ] && [ ! -s /proc/2/cmdline ]; then
		variance 2 --interval process_order -p 2
		grep -q "runs no program" said
	fi
}

@test "a stripped static program" {
	compile gcc stripped -static -s
	open_shop 1200 stripped
	variance 2 --interval process_order -p "$SHOP"
	grep -q "stripped" said
	is_unharmed
}

@test "static programs are watched, running or from their start" {
	compile gcc static -static
	open_shop 1200 static
	variance 0 --interval process_order -p "$SHOP" --rounds 1
	grep -qE "pack_order|burn" answer
	is_unharmed
	variance 0 --interval process_order -- ./static 1
	grep -q "pack_order" answer
}

@test "static and position-independent" {
	compile gcc pie -static-pie
	open_shop 1200 pie
	variance 0 --interval process_order -p "$SHOP" --rounds 1
	is_unharmed
	variance 0 --interval process_order -- ./pie 1
	grep -q "pack_order" answer
}

@test "a program of 32 bits" {
	compile gcc small -m32
	open_shop 1200 small
	variance 2 --interval process_order -p "$SHOP"
	grep -q "32-bit" said
	kill -0 "$SHOP"
	variance 2 --interval process_order -- ./small 1
	grep -q "32-bit" said
}

@test "musl" {
	compile musl-gcc musl
	open_shop 1200 musl
	variance 0 --interval process_order -p "$SHOP" --rounds 1
	is_unharmed
	compile musl-gcc musl-static -static
	variance 0 --interval process_order -- ./musl-static 1
	grep -q "pack_order" answer
}

@test "a process of another user" {
	command -v setpriv >/dev/null || skip "needs setpriv"
	open_shop
	cp "$CULPRIT" culprit
	run -2 setpriv --reuid=65534 --regid=65534 --clear-groups ./culprit variance --no-run --interval process_order -p "$SHOP"
	[[ "$output" == *"must be yours"* ]]
	is_unharmed
}

@test "a process that another program traces" {
	command -v strace >/dev/null || skip "needs strace"
	open_shop
	strace -o trace -p "$SHOP" >/dev/null 2>&1 3>&- 4>&- &
	local tracer=$!
	wait_until test -s trace
	variance 2 --interval process_order -p "$SHOP"
	kill "$tracer"
	grep -q "is being traced by" said
	is_unharmed
}

@test "a process that is watched already" {
	open_shop
	timeout -s KILL 900 "$CULPRIT" variance --no-run --interval process_order -p "$SHOP" --for 800s >first 2>&1 3>&- 4>&- &
	local first=$!
	wait_patched "$SHOP"
	variance 2 --interval process_order -p "$SHOP"
	grep -q "is being watched already" said
	wait_until grep -q '^round' first
	kill -INT "$first"
	wait "$first"
	grep -q "process_order" first
	is_unharmed
}

@test "a program that ends at any moment: what was seen is told" {
	compile gcc shop
	local ends="0.6 2.01"
	[ "$LIVE" != all ] || ends="0.6 1.99 2.01 2.03 2.05"
	for s in $ends; do
		variance 0 --interval process_order -- ./shop "$s"
		grep -q "of the variance of 'process_order'" answer
		run ! grep -q "goes on" said
	done
	variance 1 --interval process_order -- ./shop 0
	grep -q "was not seen" said
}

@test "a process that is killed: what was seen is told" {
	open_shop
	(wait_until grep -q '^round' said; kill -9 "$SHOP") 3>&- 4>&- &
	variance 0 --interval process_order -p "$SHOP" --for 800s
	grep -q "has ended" said
	grep -q "of the variance of 'process_order'" answer
}

# it sleeps after each order: what the loader of a program does before the first is behind it
is_at_work() {
	[ "$(awk '/^voluntary/ { print $2 }' "/proc/$SHOP/status")" -ge 50 ]
}

# halt: it stands still, and is seen to
halt() {
	kill -STOP "$SHOP"
	wait_until grep -q '^State:.T' "/proc/$SHOP/status"
}

@test "a process that stands still" {
	open_shop
	wait_until is_at_work
	halt
	variance 1 --interval process_order -p "$SHOP" --for 1s
	grep -q "is stopped" said
	grep -q "was not seen" said
	grep -q "^State:.T" "/proc/$SHOP/status"
	kill -CONT "$SHOP"
	wait_until is_unharmed
	halt
	(sleep 1; kill -CONT "$SHOP") 3>&- 4>&- &
	variance 0 --interval process_order -p "$SHOP" --rounds 1
	is_unharmed
}

@test "an interval that is never seen" {
	open_shop
	variance 1 --interval close_shop -p "$SHOP" --for 1s
	grep -q "'close_shop' was not seen" said
	is_unharmed
}

@test "culprit killed while it looks for more: the program is as it was" {
	local times=8
	[ "$LIVE" = all ] && times=200
	open_shop 1200
	for i in $(seq $times); do
		"$CULPRIT" variance --no-run --round 50ms --for 600s --interval process_order -p "$SHOP" >/dev/null 2>said 3>&- 4>&- &
		local pid=$!
		sleep "0.$(printf %02d $((i * 37 % 80)))"
		kill -9 "$pid" || { cat said; return 1; }
		wait "$pid" || true
		no_guardian "$SHOP"
		is_unharmed
	done
	variance 0 --interval process_order -p "$SHOP" --rounds 1
	is_unharmed
}
