# HBase 2.5.11 for tests, over hdfs.bash: ZooKeeper, a master and two region servers, each a JVM of its own. HDFS_PIDS has the process of
# each (zk, master, rs1, rs2).

HBASE_CACHE=${CULPRIT_CACHE:-$HOME/.cache/culprit}/hbase-2.5.11-hadoop3
HBASE_LIB=$HBASE_CACHE/lib
HBASE_JAVA=("${HDFS_JAVA[@]}" -Xmx384m --add-modules=jdk.unsupported --add-exports=java.base/jdk.internal.misc=ALL-UNNAMED
	--add-opens=java.base/java.nio=ALL-UNNAMED --add-opens=java.base/sun.nio.ch=ALL-UNNAMED --add-opens=java.base/java.lang=ALL-UNNAMED
	--add-opens=java.base/java.lang.reflect=ALL-UNNAMED --add-opens=java.base/jdk.internal.ref=ALL-UNNAMED
	--add-exports=java.security.jgss/sun.security.krb5=ALL-UNNAMED)

# The jars, once; or the test is skipped.
hbase_fetch() {
	[ -d "$HBASE_LIB" ] && return
	command -v mvn >/dev/null || skip "the jars of HBase are not in the cache, and there is no Maven"
	mkdir -p "$HBASE_CACHE"
	mvn -B -q -Dmaven.repo.local="$HBASE_CACHE/../m2" -f "$JVM/hbase-pom.xml" \
		org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies \
		-DoutputDirectory="$HBASE_LIB.part" -DincludeScope=runtime >"$DIR/mvn.log" 2>&1 ||
		skip "the jars of HBase are not in the cache, and cannot be fetched"
	mv "$HBASE_LIB.part" "$HBASE_LIB"
}

# hbase_conf NODE PORT
hbase_conf() {
	local c=$DIR/conf/$1
	mkdir -p "$c"
	{
		echo "<configuration>"
		hdfs_property fs.defaultFS hdfs://127.0.0.1:8020
		echo "</configuration>"
	} >"$c/core-site.xml"
	{
		echo "<configuration>"
		hdfs_property dfs.replication 2
		hdfs_property dfs.client.read.shortcircuit false
		echo "</configuration>"
	} >"$c/hdfs-site.xml"
	{
		echo "<configuration>"
		hdfs_property hbase.rootdir hdfs://127.0.0.1:8020/hbase
		hdfs_property hbase.cluster.distributed true
		hdfs_property hbase.zookeeper.quorum 127.0.0.1
		hdfs_property hbase.zookeeper.property.clientPort 2181
		hdfs_property hbase.master.hostname 127.0.0.1
		hdfs_property hbase.master.ipc.address 127.0.0.1
		hdfs_property hbase.master.info.port -1
		hdfs_property hbase.master.wait.on.regionservers.mintostart 2
		hdfs_property hbase.regionserver.hostname 127.0.0.1
		hdfs_property hbase.regionserver.ipc.address 127.0.0.1
		hdfs_property hbase.regionserver.port "$2"
		hdfs_property hbase.regionserver.info.port -1
		hdfs_property hbase.regionserver.handler.count 10
		[ -z "${HBASE_WAL-filesystem}" ] || hdfs_property hbase.wal.provider "${HBASE_WAL-filesystem}"
		hdfs_property hbase.unsafe.stream.capability.enforce false
		echo "${HBASE_MORE:-}"
		hdfs_property hbase.tmp.dir "$DIR/data/$1"
		echo "</configuration>"
	} >"$c/hbase-site.xml"
	cat >"$c/log4j2.properties" <<-EOT
		status=warn
		appender.f.type=File
		appender.f.name=F
		appender.f.fileName=$DIR/logs/$1.log
		appender.f.layout.type=PatternLayout
		appender.f.layout.pattern=%d{ISO8601} %-5p [%t] %c{2}: %m%n
		rootLogger.level=INFO
		rootLogger.appenderRef.f.ref=F
	EOT
}

# hbase_java NODE ARGUMENTS...: in the namespace, with the configuration of the node
hbase_java() {
	local node=$1
	shift
	exec ip netns exec "$NS" "${HBASE_JAVA[@]}" -Djava.io.tmpdir="$DIR/tmp" -cp "$DIR/conf/$node:$DIR/classes:$HBASE_LIB/*" "$@"
}

# hbase_server NODE CLASS ARGUMENTS...
hbase_server() {
	(hbase_java "$@") >"$DIR/logs/$1.out" 2>&1 3>&- &
	HDFS_PIDS[$1]=$!
	PIDS+=($!)
}

# hbase_up SOURCE...: HDFS is up. HBASE_MORE has properties for all. HBASE_WAL: the provider of logs; empty: the default, which writes to DataNodes by Netty
hbase_up() {
	javac -nowarn -cp "$HBASE_LIB/*" -d "$DIR/classes" "$@"
	hbase_conf zk 0
	hbase_conf master 0
	hbase_conf hclient 0
	hbase_conf rs1 16020
	hbase_conf rs2 16021
	printf '%s\n' tickTime=2000 "dataDir=$DIR/data/zk" clientPort=2181 clientPortAddress=127.0.0.1 admin.enableServer=false \
		maxClientCnxns=100 >"$DIR/conf/zk/zoo.cfg"
	hbase_server zk org.apache.zookeeper.server.quorum.QuorumPeerMain "$DIR/conf/zk/zoo.cfg"
	hbase_server master org.apache.hadoop.hbase.master.HMaster start
	hbase_server rs1 org.apache.hadoop.hbase.regionserver.HRegionServer start
	hbase_server rs2 org.apache.hadoop.hbase.regionserver.HRegionServer start
	wait_until grep -q 'Master has completed initialization' "$DIR/logs/master.log"
}
