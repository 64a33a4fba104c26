# Tests of real systems, all processes of which are in a network namespace of the test: what each of them needs, and how it ends.

# systems_begin NAME: or the test is skipped. $DIR is its folder, $JVM that of this file, $SETS has the sets of tracepoints.
# shellcheck disable=SC2034 # who sources this uses them
systems_begin() {
	[ "$LIVE" = all ] || skip "slow: make test-live"
	[ "$(id -u)" = 0 ] || skip "entering a process needs root"
	command -v javac >/dev/null || skip "there is no JDK"
	command -v curl >/dev/null || skip "there is no curl"
	"$CULPRIT" hub --help 2>&1 | grep -q queries || skip "culprit is built without the bus"
	JVM=$BATS_TEST_DIRNAME/jvm
	SETS=$BATS_TEST_DIRNAME/../../share/tracepoints
	DIR=$(mktemp -d)
	NS=culprit-$1$$-$BATS_TEST_NUMBER
	PIDS=()
	# shellcheck source=/dev/null
	. "$BATS_TEST_DIRNAME/wait.bash"
	# shellcheck source=/dev/null
	. "$JVM/hdfs.bash"
	# shellcheck source=/dev/null
	. "$JVM/ask.bash"
}

# KEEP has a folder that is to have all that was written.
systems_end() {
	[ -n "$DIR" ] || return 0
	rm -f "$DIR/go"
	hdfs_down
	[ -z "$KEEP" ] || cp -r "$DIR" "$KEEP"
	rm -rf "$DIR"
}

# Clients that say so.
are_ready() {
	local t
	for t in "${TRUTHS[@]}"; do
		[ -f "${t#*=}.ready" ] || return 1
	done
}

# What clients of HDFS have read (and 4 bytes of checksum for each 512) is what the DataNodes have counted; the last of it comes after the
# client has gone on.
have_read() {
	[ "$(told)" = "$(cat "${TRUTHS[@]#*=}" | awk '$1 == "bytes" { s += $3 + $3 / 128 } END { print s + 0 }')" ]
}
