# Real systems, fetched by name: every logging call is found, every line of their real logs has its statement.

setup() {
	DIR=$(mktemp -d)
	CACHED=${CULPRIT_CACHE:-$HOME/.cache/culprit}
}

teardown() {
	rm -rf "$DIR"
}

# jars SYSTEM: sets LIB; a fast run takes only what is in the cache already
jars() {
	[ "$LIVE" = all ] || [ -d "$CACHED/$1/lib" ] || [ -d "$CACHED/${1%%-*}-venv" ] || skip "slow: make test-live"
	LIB=$("$ROOT/tests/learn/fetch" "$1" 2>"$DIR/why") || skip "$1: $(tail -n 1 "$DIR/why")"
}

# sites SYSTEM JARS: at least 99 % of what javap counts in the jars of that name
sites() {
	[ "$LIVE" = all ] || skip "slow: make test-live"
	command -v javap >/dev/null || skip "javap is not installed"
	jars "$1"
	run "$ROOT/tests/learn/count-sites" "$CULPRIT" --only "$2" --min 0.99 "$LIB"
	echo "$output"
	echo "# $1: ${lines[0]}" >&3
	[ "$status" = 0 ]
}

# lines SET SYSTEM...: at least 97 % of the lines of the set, with models of all the systems
lines_of() {
	local set=$1 models='' system
	shift
	[ "$LIVE" = all ] || skip "slow: make test-live"
	[ -f "$CULPRIT_DATA/logs/$set.tar.xz" ] || skip "no $set.tar.xz in $CULPRIT_DATA/logs"
	for system; do
		jars "$system"
		"$CULPRIT" learn "$LIB" -o "$DIR/$system.model" >/dev/null 2>&1
		models+=${models:+,}$DIR/$system.model
	done
	tar -xJf "$CULPRIT_DATA/logs/$set.tar.xz" -C "$DIR"
	run "$ROOT/tests/learn/match-lines" "$CULPRIT" "$models" --min 0.97 --min-right 0.97 "$DIR/$set/logs"
	echo "$output"
	echo "# $set: ${lines[0]}" >&3
	[ "$status" = 0 ]
}

@test "javap counts the same calls in ZooKeeper 3.8.4" { sites zookeeper-3.8.4 '^zookeeper'; }
@test "javap counts the same calls in Kafka 3.7.0" { sites kafka-3.7.0 '^(kafka|connect)'; }
@test "javap counts the same calls in HDFS 2.0.2-alpha" { sites hdfs-2.0.2-alpha '^hadoop'; }
@test "javap counts the same calls in HDFS 3.3.6" { sites hdfs-3.3.6 '^hadoop'; }
@test "javap counts the same calls in YARN 2.0.2-alpha" { sites yarn-2.0.2-alpha '^hadoop'; }
@test "javap counts the same calls in YARN 3.3.6" { sites yarn-3.3.6 '^hadoop'; }
@test "javap counts the same calls in HBase 0.94.18" { sites hbase-0.94.18 '^hbase'; }
@test "javap counts the same calls in HBase 2.5.11" { sites hbase-2.5.11-hadoop3 '^hbase'; }
@test "javap counts the same calls in Cassandra 2.1.0" { sites cassandra-2.1.0 '^cassandra'; }
@test "javap counts the same calls in Cassandra 5.0.9" { sites cassandra-5.0.9 '^cassandra'; }

@test "lines of HDFS 2.0.2-alpha have their statements" { lines_of hdfs-2.0.2-alpha hdfs-2.0.2-alpha; }
@test "lines of HDFS 3.3.6 have their statements" { lines_of hdfs-3.3.6 hdfs-3.3.6; }
@test "lines of YARN 2.0.2-alpha have their statements" { lines_of yarn-2.0.2-alpha yarn-2.0.2-alpha; }
@test "lines of YARN 3.3.6 have their statements" { lines_of yarn-3.3.6 yarn-3.3.6; }
@test "lines of HBase 0.94.18 have their statements" { lines_of hbase-0.94.18 hbase-0.94.18; }
@test "lines of HBase 2.5.11 have their statements" { lines_of hbase-2.5.11 hbase-2.5.11-hadoop3 hdfs-3.3.6; }
@test "lines of Cassandra 2.1.0 have their statements" { lines_of cassandra-2.1.0 cassandra-2.1.0; }
@test "lines of Cassandra 5.0.9 have their statements" { lines_of cassandra-5.0.9 cassandra-5.0.9; }
@test "lines of Spark 3.5 on YARN have their statements" { lines_of spark-3.5-yarn spark-3.5.9 yarn-3.3.6; }

@test "the model does not depend on the number of threads" {
	jars zookeeper-3.8.4
	for threads in 1 2 5; do
		"$CULPRIT" learn "$LIB" -o "$DIR/$threads.model" --threads $threads >/dev/null 2>&1
	done
	cmp "$DIR/1.model" "$DIR/2.model"
	cmp "$DIR/1.model" "$DIR/5.model"
}

@test "a program of a million methods is learned within four minutes and three gigabytes" {
	[ "$LIVE" = all ] || skip "slow: make test-live"
	[[ $(ldd "$CULPRIT") != *libasan* ]] || skip "a build with sanitizers is too slow for this"
	"$ROOT/tests/learn/gen-program" "$DIR/million.jar" 1000 1000
	(ulimit -v 3145728 && timeout 240 "$CULPRIT" learn "$DIR/million.jar" -o "$DIR/million.model" >"$DIR/said" 2>&1)
	cat "$DIR/said"
	grep -q "1,000,000 methods" "$DIR/said"
}
