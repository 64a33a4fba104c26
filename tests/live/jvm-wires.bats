#!/usr/bin/env bats
# What requests carry from program to program over gRPC, Netty's HTTP, Apache's HTTP clients, Tomcat and Jetty: programs that know what they
# do say so, and a live query must tell the same. tests/live/jvm/handoffs.py has the queries, and prints what differs.

setup() {
	[ "${LIVE:-}" = all ] || skip "slow: make test-live"
	command -v javac >/dev/null || skip "needs a JDK"
	command -v python3 >/dev/null || skip "needs python3"
	[ "$(id -u)" = 0 ] || skip "needs root"
	JVM=$BATS_TEST_DIRNAME/jvm
	CACHE=${CULPRIT_CACHE:-$HOME/.cache/culprit}/wires
	nr=100
	fetch
	chmod 755 "$BATS_RUN_TMPDIR" "$BATS_TEST_TMPDIR" 2>/dev/null || true
}

# The jars, once; or the test is skipped.
fetch() {
	[ -d "$CACHE/lib" ] && return
	command -v mvn >/dev/null || skip "the jars are not in the cache, and there is no Maven"
	mkdir -p "$CACHE"
	mvn -B -q -Dmaven.repo.local="$CACHE/../m2" -f "$JVM/wires-pom.xml" \
		org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies \
		-DoutputDirectory="$CACHE/lib.part" -DincludeScope=runtime >"$BATS_TEST_TMPDIR/mvn.log" 2>&1 ||
		skip "the jars are not in the cache, and cannot be fetched"
	mv "$CACHE/lib.part" "$CACHE/lib"
}

# ask PROGRAM served|after REQUESTS [WORDS…]
ask() {
	local java classes=$BATS_TEST_TMPDIR/classes
	[ -d "$classes" ] || javac -nowarn -cp "$CACHE/lib/*" -d "$classes" "$JVM/$1.java"
	for java in ${JAVAS:-java}; do
		JAVA=$java python3 "$JVM/handoffs.py" "$BUILD/culprit" "$classes:$CACHE/lib/*" "$@"
	done
}

@test "calls of gRPC carry what their client packed, and come back with what the server did" {
	ask Grpc served "$nr"
	ask Grpc after "$nr"
	# on the threads that read for all connections
	ask Grpc served "$nr" direct
	ask Grpc after "$nr" direct
}

@test "calls of gRPC to and from who is not watched go on as they were" {
	ask Grpc alone "$nr"
	ask Grpc unasked "$nr"
}

@test "what Netty's loops do is told of who asked for it" {
	ask Netty served "$nr"
	ask Netty after "$nr"
}

@test "servlets carry what Apache's clients packed: Tomcat" {
	ask Servlets served "$nr" tomcat
	ask Servlets after "$nr" tomcat
}

@test "servlets carry what Apache's clients packed: Jetty" {
	ask Servlets served "$nr" jetty
	ask Servlets after "$nr" jetty
}
