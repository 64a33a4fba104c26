#!/usr/bin/env bats
# What requests carry inside a Java machine and over HTTP: programs that know what they do say so, and a live query must tell the same.
# tests/live/jvm/handoffs.py has the queries, and prints what differs. LIVE=all: more requests, and every java that JAVAS names.
load javas.bash

setup() {
	command -v javac >/dev/null || skip "needs a JDK"
	command -v python3 >/dev/null || skip "needs python3"
	[ "$(id -u)" = 0 ] || skip "needs root"
	nr=20
	[ "${LIVE:-}" != all ] || nr=300
	chmod 755 "$BATS_RUN_TMPDIR" "$BATS_TEST_TMPDIR" 2>/dev/null || true
}

# compile JAVA FOLDER
compile() {
	local newer=("$BATS_TEST_DIRNAME/jvm/HttpNewer.java")
	! java_is_8 "$1" || newer=()
	javac_for "$1" -d "$2" "$BATS_TEST_DIRNAME"/jvm/Handoffs.java "$BATS_TEST_DIRNAME"/jvm/Http.java \
		"$BATS_TEST_DIRNAME/jvm/cache/LocalCache.java" "${newer[@]}"
}

ask() {
	local java classes
	for java in ${JAVAS:-java}; do
		classes=$BATS_TEST_TMPDIR/classes${java//\//-}
		[ -e "$classes" ] || compile "$java" "$classes"
		JAVA=$java python3 "$BATS_TEST_DIRNAME/jvm/handoffs.py" "$BUILD/culprit" "$classes" "$@"
	done
}

@test "who does something for a request carries what it packed, however it was handed over" {
	ask handoffs done "$nr"
}

@test "who waits for others carries what they packed" {
	ask handoffs after "$nr"
}

@test "branches do not see each other" {
	ask handoffs pair "$nr"
}

@test "a server carries what its client packed, which comes back with the answer" {
	ask Http served "$nr"
	ask Http after "$nr"
}
