#!/usr/bin/env bats
# culprit attach: a library comes into JVMs that run, wherever they run and whose ever they are, and none of them is harmed.

bats_require_minimum_version 1.5.0

load javas.bash
load wait.bash

setup_file() {
	command -v javac >/dev/null || return 0
	CLASSES=$(mktemp -d /tmp/culprit-attach.XXXXXX)
	export CLASSES
	chmod 755 "$CLASSES"
	cat >"$CLASSES/Sit.java" <<-'END'
	package shop;

	public class Sit {
		public static void main(String[] args) throws Exception {
			System.out.println("ready");
			Thread.sleep(1200000);
		}
	}
	END
	javac --release 8 -Xlint:-options -d "$CLASSES" "$CLASSES/Sit.java"
}

teardown_file() {
	[ -z "${CLASSES:-}" ] || rm -rf "$CLASSES"
}

setup() {
	command -v javac >/dev/null || skip "needs a JDK"
	DIR=$(mktemp -d /tmp/culprit-attach.XXXXXX)
	chmod 755 "$DIR"
	cd "$DIR" || return 1
	JVM=
	OTHER=
	export CULPRIT_JVM_AGENT=$BUILD/tests/unit/jvm_agent.so
	LOAD=$BUILD/tests/unit/jvm_load
	return 0
}

teardown() {
	for pid in $JVM $OTHER; do
		kill -9 "$pid" 2>/dev/null || true
		rm -f "/tmp/.java_pid$pid"
	done
	[ -z "${DIR:-}" ] || rm -rf "$DIR"
}

# jvm COMMAND...: starts one; its number is in JVM
jvm() {
	"$@" -Xmx64m -XX:TieredStopAtLevel=1 -cp "$CLASSES" shop.Sit >out 2>&1 3>&- 4>&- &
	JVM=$!
	wait_until grep -q ready out
}

# javas: every JDK of this machine, once
javas() {
	for java in "$(command -v java)" /usr/lib/jvm/*/bin/java; do
		realpath "$java"
	done | sort -u
}

# lives: it goes on, and has printed nothing but what it was to (and what the JDK says of agents)
lives() {
	kill -0 "$JVM"
	! grep -v '^ready$\|^WARNING: ' out
}

# inside NUMBER: the child of a process
inside() {
	cat "/proc/$1/task/$1/children"
}

# halt: it stands still, and is seen to
halt() {
	kill -STOP "$JVM"
	wait_until grep -q '^State:.T' "/proc/$JVM/status"
}

has_child() {
	[ -n "$(inside "$1")" ]
}

@test "the library comes into the JVMs of all JDKs, again and again" {
	for java in $(javas); do
		jvm "$java"
		"$CULPRIT" attach "$JVM" --json >first
		"$CULPRIT" attach "$JVM" >second
		version=$("$java" -XshowSettings:properties -version 2>&1 | sed -n 's/^ *java.version = //p')
		grep -qF "\"pid\":$JVM,\"name\":\"Sit\",\"java\":\"$version\"" first
		grep -qF '"loaded":true,"library":"'"$CULPRIT_JVM_AGENT"'"' first
		grep -q '"what":"options","value":"status /tmp/.culprit-' first
		grep -q '"what":"calls","value":"1"' first
		grep -q '^ *calls  *2$' second
		lives
		[ -z "$(find /tmp -maxdepth 1 \( -name ".attach_pid$JVM" -o -name ".culprit-$JVM-*" \) -newermt "@$WAIT_BEGAN")" ]
		kill "$JVM"
		wait "$JVM" || true
	done
}

@test "a JVM that only begins is waited for" {
	for java in $(javas); do
		for _ in 1 2 3 4 5; do
			"$java" -Xmx64m -cp "$CLASSES" shop.Sit >out 2>&1 3>&- 4>&- &
			JVM=$!
			wait_until grep -q libjvm.so "/proc/$JVM/maps"
			"$LOAD" "$JVM" "$CULPRIT_JVM_AGENT" "write $DIR/told x"
			wait_until grep -q ready out
			lives
			kill "$JVM"
			wait "$JVM" || true
		done
	done
	[ "$(grep -c ^calls told)" -ge 5 ]
}

@test "options come as they were given, up to 1024 bytes" {
	jvm java
	"$LOAD" "$JVM" "$CULPRIT_JVM_AGENT" "write $DIR/told three words	and a tab"
	grep -qF "write $DIR/told three words	and a tab" told
	long="write $DIR/long $(printf '%01024d' 0)"
	"$LOAD" "$JVM" "$CULPRIT_JVM_AGENT" "${long:0:1024}"
	[ "$(sed -n 's/^options	//p' long | tr -d '\n' | wc -c)" = 1024 ]
	run ! "$LOAD" "$JVM" "$CULPRIT_JVM_AGENT" "${long:0:1025}"
	[[ $output == *"takes 1024 bytes of an argument, and this has 1025"* ]]
	lives
}

@test "a library that says no, or is none, is told" {
	jvm java
	CULPRIT_JVM_AGENT=$BUILD/tests/unit/jvm_agent_no.so run -2 "$CULPRIT" attach "$JVM"
	[ "$output" = "culprit: the library in the JVM $JVM said no: it returned 7" ]
	run ! "$LOAD" "$JVM" /nowhere/agent.so x
	if java_is_8; then # it does not say which
		[[ $output == *"the library was not loaded"* ]]
	else
		[[ $output == *"/nowhere/agent.so was not loaded"* ]]
	fi
	lives
	"$CULPRIT" attach "$JVM"
}

@test "--status loads nothing" {
	jvm java
	run -1 "$CULPRIT" attach "$JVM" --status --json
	[[ $output == *'"name":"Sit"'*'"loaded":false'* ]]
	run ! grep -q jvm_agent "/proc/$JVM/maps"
	"$CULPRIT" attach "$JVM" >/dev/null
	run -0 "$CULPRIT" attach "$JVM" --status --json
	[[ $output == *'"loaded":true'*'"what":"calls","value":"2"'* ]]
}

@test "a JVM that is stopped is waited for, then told, and is not asked later" {
	jvm java
	halt
	CULPRIT_ATTACH_SECONDS=1 run -2 "$CULPRIT" attach "$JVM"
	[[ $output == "culprit: the JVM $JVM is stopped"* ]]
	kill -CONT "$JVM"
	"$LOAD" "$JVM" "$CULPRIT_JVM_AGENT" "write $DIR/told x"
	halt
	CULPRIT_ATTACH_SECONDS=1 run ! "$LOAD" "$JVM" "$CULPRIT_JVM_AGENT" "write $DIR/told y"
	[[ $output == "the JVM $JVM is stopped"* ]]
	kill -CONT "$JVM"
	"$LOAD" "$JVM" "$CULPRIT_JVM_AGENT" "write $DIR/told z"
	[ "$(grep -c ^calls told)" = 2 ]
	lives
	# one that goes on in time is no failure
	halt
	"$LOAD" "$JVM" "$CULPRIT_JVM_AGENT" "write $DIR/late x" 3>&- 4>&- &
	OTHER=$!
	sleep 0.3
	[ ! -e late ]
	kill -CONT "$JVM"
	wait "$OTHER"
	[ -e late ]
}

@test "who is no JVM is sent no signal" {
	sleep 1200 3>&- 4>&- &
	OTHER=$!
	run -2 "$CULPRIT" attach "$OTHER"
	[ "$output" = "culprit: process $OTHER is no JVM: it has no libjvm.so" ]
	# something that has libjvm.so in it and does not handle SIGQUIT would end by it
	lib=$(find "$(dirname "$(dirname "$(realpath "$(command -v java)")")")" -name libjvm.so | head -n 1)
	python3 -c 'import mmap, sys, time
f = open(sys.argv[1], "rb")
m = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)
print("ready", flush=True)
time.sleep(1200)' "$lib" >out 3>&- 4>&- &
	JVM=$!
	wait_until grep -q ready out
	run -2 "$CULPRIT" attach "$JVM"
	[[ $output == *"does not handle SIGQUIT"* ]]
	lives
	kill -0 "$OTHER"
}

@test "-XX:+DisableAttachMechanism is told, and no threads are printed" {
	jvm java -XX:+DisableAttachMechanism
	run -2 "$CULPRIT" attach "$JVM"
	[[ $output == *"was started with -XX:+DisableAttachMechanism"* ]]
	lives
	kill "$JVM"
	JAVA_TOOL_OPTIONS=-XX:+DisableAttachMechanism jvm java
	run -2 "$CULPRIT" attach "$JVM"
	[[ $output == *"was started with -XX:+DisableAttachMechanism"* ]]
	run ! grep -q "Full thread dump" out
}

@test "a JVM in namespaces of its own is given a copy, and no link is followed there" {
	[ "$(id -u)" = 0 ] || skip "needs root"
	unshare -m -p -f --mount-proc sh -c "mount --bind '$CLASSES' /mnt && mount -t tmpfs none /tmp && exec java -Xmx64m -cp /mnt shop.Sit" \
		>out 2>&1 3>&- 4>&- &
	OTHER=$!
	wait_until grep -q ready out
	JVM=$(inside "$OTHER" | tr -d ' ')
	tmp=/proc/$JVM/root/tmp
	"$CULPRIT" attach "$JVM" --json >told
	copy=$(sed -n 's/.*"library":"\([^"]*\)".*/\1/p' told)
	[[ $copy == /tmp/.culprit-jvm-*-0.so ]]
	[ ! -e "$copy" ]
	[ "$(stat -c %a "$tmp/${copy#/tmp/}")" = 555 ]
	cmp "$tmp/${copy#/tmp/}" "$CULPRIT_JVM_AGENT"
	"$CULPRIT" attach "$JVM" --json | grep -q '"what":"calls","value":"2"'
	[ "$(find "$tmp/" -name '.culprit*' | wc -l)" = 1 ]
	# somebody lays a link where the copy would be
	rm "$tmp/${copy#/tmp/}"
	echo precious >victim
	ln -s "$DIR/victim" "$tmp/${copy#/tmp/}"
	"$CULPRIT" attach "$JVM" --json >told
	[ "$(cat victim)" = precious ]
	[ -e "$tmp/${copy#/tmp/}" ] || [ -L "$tmp/${copy#/tmp/}" ]
	[ -f "$tmp/$(basename "${copy%-0.so}")-1.so" ]
	lives
}

@test "a JVM of another user is asked as that user" {
	[ "$(id -u)" = 0 ] || skip "needs root"
	setpriv --reuid 65534 --regid 65534 --clear-groups java -version 2>/dev/null || skip "another user cannot run this java"
	jvm setpriv --reuid 65534 --regid 65534 --clear-groups java
	mkdir -m 700 closed
	cp "$CULPRIT_JVM_AGENT" closed/libculprit-jvm.so
	echo >>closed/libculprit-jvm.so # other bytes than those of other tests
	echo "$JVM" >>closed/libculprit-jvm.so
	CULPRIT_JVM_AGENT=$DIR/closed/libculprit-jvm.so "$CULPRIT" attach "$JVM" --json >told
	copy=$(sed -n 's/.*"library":"\([^"]*\)".*/\1/p' told)
	[ "$(stat -c '%u %g %a' "$copy")" = "65534 65534 555" ]
	rm "$copy"
	grep -q '"what":"calls","value":"1"' told
	lives
	# and not by any other
	run -2 setpriv --reuid 65533 --regid 65533 --clear-groups "$CULPRIT" attach "$JVM"
	[ "$output" = "culprit: process $JVM is of user 65534: attach as this user, or as root" ]
	lives
}
