# HDFS 3.3.6 for tests: a NameNode and DataNodes, each a JVM of its own, in a network namespace of the test. $DIR is the test's
# folder, $JVM the folder of this file. HDFS_PIDS has the process of each (nn, dn1, …).

. "$JVM/../javas.bash"

HDFS_CACHE=${CULPRIT_CACHE:-$HOME/.cache/culprit}/hdfs-3.3.6
HDFS_LIB=$HDFS_CACHE/lib
HDFS_JAVA=(java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xmx192m -Djava.net.preferIPv4Stack=true)
HDFS_HOSTS=(name hostA hostB hostC)
declare -gA HDFS_PIDS

# The jars, once; or the test is skipped.
hdfs_fetch() {
	[ -d "$HDFS_LIB" ] && return
	command -v mvn >/dev/null || skip "the jars of HDFS are not in the cache, and there is no Maven"
	mkdir -p "$HDFS_CACHE"
	mvn -B -q -Dmaven.repo.local="$HDFS_CACHE/../m2" -f "$JVM/hdfs-pom.xml" \
		org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies \
		-DoutputDirectory="$HDFS_LIB.part" -DincludeScope=runtime >"$DIR/mvn.log" 2>&1 ||
		skip "the jars of HDFS are not in the cache, and cannot be fetched"
	mv "$HDFS_LIB.part" "$HDFS_LIB"
}

hdfs_property() {
	echo "<property><name>$1</name><value>$2</value></property>"
}

# hdfs_conf NODE NUMBER HOST: of the NameNode (0), a DataNode or a client; HDFS_MORE has properties for all
hdfs_conf() {
	local c=$DIR/conf/$1
	mkdir -p "$c/webapps/hdfs" "$c/webapps/datanode" # the jars have none, and the servers want some
	{
		echo "<configuration>"
		hdfs_property fs.defaultFS hdfs://127.0.0.1:8020
		hdfs_property hadoop.tmp.dir "$DIR/data/$1/tmp"
		echo "${HDFS_MORE_CORE:-}</configuration>"
	} >"$c/core-site.xml"
	{
		echo "<configuration>"
		hdfs_property dfs.blocksize 1048576
		hdfs_property dfs.namenode.fs-limits.min-block-size 65536
		hdfs_property dfs.namenode.rpc-bind-host 127.0.0.1
		hdfs_property dfs.namenode.http-address 127.0.0.1:9870
		hdfs_property dfs.namenode.name.dir "file://$DIR/data/nn/name"
		hdfs_property dfs.datanode.data.dir "file://$DIR/data/$1/data"
		hdfs_property dfs.datanode.address "127.0.0.1:986$2"
		hdfs_property dfs.datanode.ipc.address "127.0.0.1:976$2"
		hdfs_property dfs.datanode.http.address "127.0.0.1:966$2"
		hdfs_property dfs.datanode.hostname "$3"
		hdfs_property dfs.namenode.datanode.registration.ip-hostname-check false
		hdfs_property dfs.heartbeat.interval 1
		# all three are taken for each block, however busy: else the NameNode has one copied later, which no client asked for
		hdfs_property dfs.namenode.redundancy.considerLoad false
		hdfs_property dfs.permissions.enabled false
		hdfs_property dfs.client.read.shortcircuit false
		echo "${HDFS_MORE:-}</configuration>"
	} >"$c/hdfs-site.xml"
	cat >"$c/log4j.properties" <<-EOF
		log4j.rootLogger=INFO,F
		log4j.appender.F=org.apache.log4j.FileAppender
		log4j.appender.F.File=$DIR/logs/$1.log
		log4j.appender.F.layout=org.apache.log4j.PatternLayout
		log4j.appender.F.layout.ConversionPattern=%d{ISO8601} %-5p [%t] %c{2}: %m%n
	EOF
}

# hdfs_java NODE ARGUMENTS...: in the namespace, with the configuration of the node
hdfs_java() {
	local node=$1
	shift
	exec ip netns exec "$NS" "${HDFS_JAVA[@]}" -Djava.io.tmpdir="$DIR/tmp" -cp "$DIR/conf/$node:$DIR/classes:$HDFS_LIB/*" "$@"
}

# hdfs_server NODE CLASS
hdfs_server() {
	(hdfs_java "$1" "org.apache.hadoop.hdfs.server.$2") >"$DIR/logs/$1.out" 2>&1 3>&- &
	HDFS_PIDS[$1]=$!
	PIDS+=($!)
}

hdfs_live_nodes() {
	[ "$(grep -c 'Adding a new node' "$DIR/logs/nn.log")" -ge "$1" ]
}

# hdfs_safe: the NameNode has left safe mode, and files can be made
hdfs_up() {
	local i
	mkdir -p "$DIR/logs" "$DIR/data" "$DIR/classes" "$DIR/tmp"
	ip netns add "$NS" 2>/dev/null || skip "no network namespaces here"
	ip -n "$NS" link set lo up
	hdfs_conf nn 0 name
	hdfs_conf client 0 name
	for i in 1 2 3; do
		hdfs_conf "dn$i" "$i" "${HDFS_HOSTS[$i]}"
	done
	[ $# = 0 ] || javac_for java -nowarn -cp "$HDFS_LIB/*" -d "$DIR/classes" "$@"
	(hdfs_java nn org.apache.hadoop.hdfs.server.namenode.NameNode -format -nonInteractive) >"$DIR/logs/format.out" 2>&1
	hdfs_server nn namenode.NameNode
	for i in 1 2 3; do
		hdfs_server "dn$i" datanode.DataNode
	done
	wait_until hdfs_live_nodes 3
}

hdfs_down() {
	local pid
	for pid in "${PIDS[@]}"; do
		kill -9 "$pid" 2>/dev/null || true
	done
	ip netns del "$NS" 2>/dev/null || true
}

# hdfs_metric NODE NAME: what a DataNode itself has counted
hdfs_metric() {
	ip netns exec "$NS" curl -s "http://127.0.0.1:966${1#dn}/jmx" | sed -n "s/^ *\"$2\" : \([0-9]*\),*$/\1/p" | head -n 1
}
