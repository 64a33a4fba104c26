# All kinds of requests in Cassandra 5.0.9: prepared ones and others, batches, counters, conditions, pages, scans, what one node or all must
# answer, rows that nodes have to mend; from many threads over one connection. What nodes do is told of the request that it was done for.

setup() {
	[ "$LIVE" = all ] || skip "slow: make test-live"
	[ "$(id -u)" = 0 ] || skip "entering a process needs root"
	command -v javac >/dev/null || skip "there is no JDK"
	"$CULPRIT" hub --help 2>&1 | grep -q queries || skip "culprit is built without the bus"
	JVM=$BATS_TEST_DIRNAME/jvm
	DIR=$(mktemp -d)
	NS=culprit-cassandra-k$$-$BATS_TEST_NUMBER
	PIDS=()
	TP=("$BATS_TEST_DIRNAME/../../share/tracepoints/cassandra.tp")
	. "$BATS_TEST_DIRNAME/wait.bash"
	. "$JVM/cassandra.bash"
	. "$JVM/ask.bash"
	cassandra_fetch
	hub
}

teardown() {
	[ -n "$DIR" ] || return 0
	cassandra_down
	[ -z "$KEEP" ] || cp -r "$DIR" "$KEEP"
	rm -rf "$DIR"
}

# client NODE ROUNDS THREADS SEED
client() {
	(cassandra_java -Dculprit.name="client-$1" -Dreads.propose="${PROPOSE:-true}" ${PROTOCOL:+"-Dprotocol=$PROTOCOL"} -cp "$DIR/classes:$CASSANDRA_LIB/*" CqlKinds "127.0.0.${1#n}" "$1" "$DIR/go" \
		"$DIR/$1.truth" "$2" "$3" "$4") >"$DIR/logs/client-$1.out" 2>&1 3>&- &
	PIDS+=($!)
	AGENT_PIDS[$1]="${NODE_PIDS[$1]} $!"
	TRUTHS+=("$1@$1=$DIR/$1.truth")
}

are_ready() {
	local t
	for t in "${TRUTHS[@]}"; do
		[ -f "${t#*=}.ready" ] || return 1
	done
}

# kinds COPIES: of each row
kinds() {
	cassandra_up "$JVM/CqlKinds.java"
	CLASS=CqlKinds cassandra_client 127.0.0.1 make "$1"
	client n1 48 4 1
	client n2 32 3 2
	wait_until are_ready
	agents n1 n2
	ask_all "$JVM/cassandra-kinds.queries"
	touch "$DIR/go"
	wait_until have_ended
	# what was not waited for
	sleep 3
	end_queries
	python3 "$JVM/cassandra_kinds_check.py" "$1" "$DIR" n1 n2
	no_losses
}

@test "requests of all kinds, many at a time, are told of the node that was asked, and come back to it" {
	kinds 2
}

@test "… also where the node that was asked has not got the row itself" {
	kinds 1
}

@test "… and where conditions are those of Paxos as it is since 4.1" {
	CASSANDRA_MORE="paxos_variant: v2"
	PROPOSE=false
	kinds 2
}

# The version before the one that lets requests bring something.
@test "a client of version 3 of the protocol is not disturbed, and is nobody to queries that ask for clients" {
	PROTOCOL=3
	cassandra_up "$JVM/CqlKinds.java"
	CLASS=CqlKinds cassandra_client 127.0.0.1 make 2
	client n1 8 2 1
	wait_until are_ready
	agents n1
	grep -E '^(reads|clients)	' "$JVM/cassandra-kinds.queries" >"$DIR/queries"
	ask_all "$DIR/queries"
	touch "$DIR/go"
	wait_until have_ended
	end_queries
	[ "$(sums reads a)" != "" ]
	[ -z "$(sums clients a)" ]
	[ "$(grep -c Exception "$DIR/logs/client-n1.out")" = 0 ]
}
