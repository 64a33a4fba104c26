# Cassandra 5.0.9 for tests: two nodes, each a JVM of its own, in a network namespace of the test. $DIR is the test's folder, $JVM the
# folder of this file. NODE_PIDS has the process of each.

CASSANDRA_CACHE=${CULPRIT_CACHE:-$HOME/.cache/culprit}/cassandra-5.0.9
CASSANDRA_LIB=$CASSANDRA_CACHE/lib
declare -gA NODE_PIDS

# The jars, once; or the test is skipped.
cassandra_fetch() {
	[ -d "$CASSANDRA_LIB" ] && return
	command -v mvn >/dev/null || skip "the jars of Cassandra are not in the cache, and there is no Maven"
	mkdir -p "$CASSANDRA_CACHE"
	mvn -B -q -Dmaven.repo.local="$CASSANDRA_CACHE/../m2" -f "$JVM/cassandra-pom.xml" \
		org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies \
		-DoutputDirectory="$CASSANDRA_LIB.part" -DincludeScope=runtime >"$DIR/mvn.log" 2>&1 ||
		skip "the jars of Cassandra are not in the cache, and cannot be fetched"
	mv "$CASSANDRA_LIB.part" "$CASSANDRA_LIB"
}

# cassandra_conf NUMBER; CASSANDRA_MORE has another line for all
cassandra_conf() {
	local c=$DIR/conf/n$1 d=$DIR/data/n$1
	mkdir -p "$c" "$d"
	cat >"$c/cassandra.yaml" <<-EOT
		cluster_name: test
		num_tokens: 4
		partitioner: org.apache.cassandra.dht.Murmur3Partitioner
		data_file_directories: [$d/data]
		commitlog_directory: $d/commitlog
		hints_directory: $d/hints
		saved_caches_directory: $d/saved
		cdc_raw_directory: $d/cdc
		commitlog_sync: periodic
		commitlog_sync_period: 10000ms
		commitlog_segment_size: 8MiB
		seed_provider:
		  - class_name: org.apache.cassandra.locator.SimpleSeedProvider
		    parameters: [ { seeds: "127.0.0.1:7000" } ]
		listen_address: 127.0.0.$1
		rpc_address: 127.0.0.$1
		native_transport_port: 9042
		storage_port: 7000
		endpoint_snitch: SimpleSnitch
		auto_bootstrap: false
		concurrent_reads: 8
		concurrent_writes: 8
		memtable_heap_space: 64MiB
		memtable_offheap_space: 64MiB
		file_cache_size: 32MiB
		start_native_transport: true
		read_request_timeout: 60000ms
		write_request_timeout: 60000ms
		${CASSANDRA_MORE:-}
	EOT
	cat >"$c/logback.xml" <<-EOT
		<configuration><appender name="F" class="ch.qos.logback.core.FileAppender"><file>$DIR/logs/n$1.log</file>
		<encoder><pattern>%-5level [%thread] %date{ISO8601} %F:%L - %msg%n</pattern></encoder></appender>
		<root level="INFO"><appender-ref ref="F"/></root></configuration>
	EOT
}

# cassandra_java ARGUMENTS...: in the namespace, with what the nodes need of the machine
cassandra_java() {
	local m more=()
	for m in java.lang java.lang.module java.lang.reflect java.math java.net java.io java.nio java.util java.util.concurrent \
		java.util.concurrent.atomic jdk.internal.loader jdk.internal.math jdk.internal.module jdk.internal.ref jdk.internal.reflect \
		jdk.internal.util.jar sun.nio.ch; do
		more+=("--add-opens=java.base/$m=ALL-UNNAMED")
	done
	for m in java.base/jdk.internal.misc java.base/jdk.internal.ref java.base/sun.nio.ch java.base/jdk.internal.perf \
		java.management.rmi/com.sun.jmx.remote.internal.rmi java.management/com.sun.jmx.remote.security java.rmi/sun.rmi.registry \
		java.rmi/sun.rmi.server java.rmi/sun.rmi.transport java.rmi/sun.rmi.transport.tcp java.sql/java.sql jdk.unsupported/sun.misc; do
		more+=("--add-exports=$m=ALL-UNNAMED")
	done
	exec ip netns exec "$NS" java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Djava.net.preferIPv4Stack=true -Xmx512m "${more[@]}" \
		--add-opens=jdk.management/com.sun.management.internal=ALL-UNNAMED --add-opens=java.management/sun.management=ALL-UNNAMED \
		-Djdk.attach.allowAttachSelf=true -Djava.security.manager=allow -Djava.io.tmpdir="$DIR/tmp" "$@"
}

# cassandra_node NUMBER: until it listens to clients
cassandra_node() {
	cassandra_conf "$1"
	(cassandra_java -Dcassandra.jmx.local.port=0 -Dcassandra.ring_delay_ms=3000 -Dcassandra.skip_wait_for_gossip_to_settle=0 \
		-Dcassandra.config="file://$DIR/conf/n$1/cassandra.yaml" -Dlogback.configurationFile="$DIR/conf/n$1/logback.xml" \
		-Dcassandra.logdir="$DIR/logs" -Dcassandra.storagedir="$DIR/data/n$1" -cp "$DIR/conf/n$1:$CASSANDRA_LIB/*" \
		org.apache.cassandra.service.CassandraDaemon) >"$DIR/logs/n$1.out" 2>&1 3>&- &
	NODE_PIDS[n$1]=$!
	PIDS+=($!)
	wait_until grep -q 'Starting listening for CQL clients on' "$DIR/logs/n$1.log"
}

# cassandra_up SOURCE...
cassandra_up() {
	mkdir -p "$DIR/logs" "$DIR/classes" "$DIR/tmp"
	ip netns add "$NS" 2>/dev/null || skip "no network namespaces here"
	ip -n "$NS" link set lo up
	javac -nowarn -cp "$CASSANDRA_LIB/*" -d "$DIR/classes" "$@"
	cassandra_node 1
	cassandra_node 2
}

# cassandra_client ARGUMENTS... of CqlStress, or of $CLASS
cassandra_client() {
	(cassandra_java -cp "$DIR/classes:$CASSANDRA_LIB/*" "${CLASS:-CqlStress}" "$@") >>"$DIR/logs/client.out" 2>&1 3>&-
}

cassandra_down() {
	local pid
	for pid in "${PIDS[@]}"; do
		kill -9 "$pid" 2>/dev/null || true
	done
	ip netns del "$NS" 2>/dev/null || true
}
