#!/usr/bin/env bats
# Java 8, which is fetched: the tests of Java programs pass with it as with the system's.

setup() {
	[ "$LIVE" = all ] || skip "slow: make test-live"
	java=$("$BATS_TEST_DIRNAME/jvm/fetch-java8" 2>&1) || skip "$java"
}

# pass FILE: all of its tests that are quick, with this java before all others
pass() {
	local own=() name
	for name in $(compgen -e BATS_); do
		own+=(-u "$name")
	done
	env "${own[@]}" LIVE="${2:-quick}" PATH="$(dirname "$java"):$PATH" "$BATS_TEST_DIRNAME/../run-live" "$BUILD" "$BATS_TEST_DIRNAME/$1.bats" 3>&-
}

@test "libraries come into running machines" {
	pass jvm-attach
}

@test "queries are answered" {
	pass jvm
}

@test "what is handed over carries what came with it" {
	pass jvm-handoffs
}

@test "requests are recorded" {
	pass jvm-record
}

@test "what varies is found, and why" {
	pass jvm-variance all
}

@test "nothing that goes wrong does harm" {
	pass jvm-faults
}

@test "HDFS is asked" {
	pass jvm-hdfs all
}
