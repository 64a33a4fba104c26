# Something is put into every method of real systems and of Java itself, and a JVM verifies every class.

setup() {
	[ "$LIVE" = all ] || skip "slow: make test-live"
	command -v javac >/dev/null || skip "javac is not installed"
	PROGRAM=$(find "$BUILD" -name rewrite_all -type f -perm -u+x | head -n 1)
	[ -n "$PROGRAM" ] || skip "rewrite_all is not built"
	DIR=$(mktemp -d)
}

teardown() {
	[ -z "${DIR:-}" ] || rm -rf "$DIR"
}

# told: what was said last, for who reads the run
told() {
	echo "$output" | tail -n 40
	echo "$output" | grep -E ' (left alone|classes|verified)' | sed 's/^/# /' >&3
	[ "$status" = 0 ]
}

verified() {
	LIB=$("$ROOT/tests/learn/fetch" "$1" 2>"$DIR/why") || skip "$1: $(tail -n 1 "$DIR/why")"
	run "$ROOT/tests/rewrite/check-jars" "$PROGRAM" "$LIB"/*.jar
	told
}

@test "every class of HDFS 3.3.6 and what it needs" { verified hdfs-3.3.6; }
@test "every class of YARN 3.3.6 and what it needs" { verified yarn-3.3.6; }
@test "every class of HBase 2.5.11 and what it needs" { verified hbase-2.5.11-hadoop3; }
@test "every class of Cassandra 5.0.9 and what it needs" { verified cassandra-5.0.9; }

@test "every class of the Java that runs, by that Java" {
	command -v jimage >/dev/null || skip "jimage is not installed"
	run "$ROOT/tests/rewrite/check-java" "$PROGRAM"
	told
}
