# Requests in Cassandra 5.0.9: two nodes that each have all rows, and clients that ask each of them, all nodes each time. What a node
# reads and writes is told of the node that was asked, and comes back to it.

setup() {
	[ "$LIVE" = all ] || skip "slow: make test-live"
	[ "$(id -u)" = 0 ] || skip "entering a process needs root"
	command -v javac >/dev/null || skip "there is no JDK"
	"$CULPRIT" hub --help 2>&1 | grep -q queries || skip "culprit is built without the bus"
	JVM=$BATS_TEST_DIRNAME/jvm
	DIR=$(mktemp -d)
	NS=culprit-cassandra$$
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
	rm -rf "$DIR"
}

# client NODE OPERATIONS SEED
client() {
	cassandra_client "127.0.0.${1#n}" "$1" "$DIR/go" "$DIR/$1.truth" "$2" "$3" &
	PIDS+=($!)
	TRUTHS+=("$1@$1=$DIR/$1.truth")
}

@test "what nodes read and write is told of the node that was asked, and comes back to it" {
	cassandra_up "$JVM/CqlStress.java"
	cassandra_client 127.0.0.1 make
	AGENT_PIDS[n1]=${NODE_PIDS[n1]}
	AGENT_PIDS[n2]=${NODE_PIDS[n2]}
	agents n1 n2
	ask_all "$JVM/cassandra.queries"
	touch "$DIR/go"
	client n1 300 1
	client n2 200 2
	wait_until have_ended
	end_queries
	python3 "$JVM/cassandra_check.py" "$DIR" n1 n2
	no_losses
}
