# The constant strings of real programs: what compilers and interpreters of this machine make, and the servers that are here.

setup() {
	BENCH=$(find "$BUILD" -name bench_constants -type f -perm -u+x | head -n 1)
	[ -n "$BENCH" ] || skip "bench_constants is not built"
	DIR=$(mktemp -d)
	cd "$DIR" || return 1
	export GOCACHE=$DIR/go GOPATH=$DIR/gopath GOFLAGS=-modcacherw
}

teardown() {
	chmod -R u+w "$DIR"
	rm -rf "$DIR"
}

# has FILE STRING...: the file gives each of these strings, holes as <1>
has() {
	local file=$1 want
	shift
	"$BENCH" -s "$file" >given 2>told
	for want in "$@"; do
		grep -qxF -- "$want" given || { echo "$file does not give '$want'"; return 1; }
	done
}

@test "Go: literals, joined strings, tables and formats, also when stripped and moved" {
	command -v go >/dev/null || skip "go is not here"
	cat >main.go <<-'END'
	package main

	import (
		"fmt"
		"log"
		"os"
	)

	var states = []string{"node joining", "node leaving", "node dead"}

	func main() {
		log.Printf("Accepted connection %d from %s after %v", len(os.Args), os.Args[0], 3)
		log.Println("shutting down worker pool")
		fmt.Println("block " + os.Args[0] + " is now under-replicated")
		fmt.Println(states[len(os.Args)%3])
	}
	END
	want=("node joining" "node dead" "Accepted connection <2> from <1> after <1>"
		"shutting down worker pool" "block " " is now under-replicated")
	go build -o plain main.go
	has plain "${want[@]}"
	go build -ldflags='-s -w' -o stripped main.go
	has stripped "${want[@]}"
	# each of these compiles all of Go's library anew
	[ "$LIVE" = all ] || return 0
	go build -ldflags='-s -w' -buildmode=pie -o moved main.go
	has moved "${want[@]}"
	GOARCH=arm64 go build -o arm main.go
	has arm "${want[@]}"
}

@test "Rust: literals and formats" {
	command -v rustc >/dev/null || skip "rustc is not here"
	rustc --version >/dev/null 2>&1 || skip "rustc does not run here"
	cat >main.rs <<-'END'
	fn main() {
	    let a: Vec<String> = std::env::args().collect();
	    println!("Connection {} from {} accepted on port {:>5}", a.len(), a[0], a.len() * 3);
	    eprintln!("plain message without holes");
	    println!("state: {}", if a.len() > 1 { "replica is stale" } else { "replica is healthy" });
	}
	END
	rustc -O -o made main.rs
	has made "plain message without holes" "replica is stale" "replica is healthy"
	grep -qF "Connection " given
	grep -qF " accepted on port " given
	grep -qF "state: " given
}

@test "C: strings that end within each other" {
	command -v cc >/dev/null || skip "cc is not here"
	cat >main.c <<-'END'
	#include <stdio.h>
	int main(int n, char **v)
	{
		printf("lost the connection to %s after %d tries\n", v[0], n);
		puts(n > 1 ? "the whole request failed" : "request failed");
		return 0;
	}
	END
	cc -O2 -o made main.c
	has made "lost the connection to <1> after <2> tries" "the whole request failed" "request failed"
	command -v strip >/dev/null || return 0
	strip made
	has made "lost the connection to <1> after <2> tries"
}

@test "Python: every version that is here, compiled and as a source" {
	cat >job.py <<-'END'
	"""Documentation is not printed,
	neither here nor there."""
	import logging
	class Job:
	    def run(self, job, user):
	        logging.info("job %s of %s began", job, user)
	        return f"job {job} is done", "and {} more".format(3)
	END
	local nr=0 python
	for python in python3 $(compgen -c | grep -xE 'python3\.[0-9]+' | sort -u) "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.*/bin/python; do
		"$python" -c 'import sys; sys.exit(sys.version_info < (3, 8))' 2>/dev/null || continue
		rm -f job.pyc
		"$python" -c 'import py_compile; py_compile.compile("job.py", "job.pyc")'
		has job.pyc "job <1> of <1> began" "job " " is done" "and <1> more"
		if grep "Documentation\|Job.run\|neither" given || grep "could not be read" told; then false; fi
		nr=$((nr + 1))
	done
	[ $nr -gt 0 ] || skip "python3 is not here"
	has job.py "job <1> of <1> began" "job <1> is done" "and <1> more"
	if grep Documentation given; then false; fi
}

@test "Java: constants, recipes and slf4j's braces, in a jar within a jar" {
	command -v javac >/dev/null && command -v jar >/dev/null || skip "javac or jar is not here"
	cat >Job.java <<-'END'
	public class Job {
		public static void main(String[] a) {
			System.out.println("job " + a.length + " of " + a[0] + " began");
			System.out.println(String.format("job %s took %d ms", a[0], 5));
		}
	}
	END
	javac Job.java
	jar cf inner.jar Job.class
	jar cf outer.jar inner.jar
	has outer.jar "job <1> took <2> ms"
	grep -qF " began" given
}

@test "servers that are here: lines that they write are found in them" {
	local nr=0 file
	file=$(command -v nginx || echo /usr/sbin/nginx)
	if [ -x "$file" ]; then
		has "$file" "using the \"<1>\" event method"
		nr=$((nr + 1))
	fi
	file=$(command -v redis-server || true)
	if [ -n "$file" ]; then
		has "$file" "Ready to accept connections"
		nr=$((nr + 1))
	fi
	for file in /usr/lib/postgresql/*/bin/postgres; do
		[ -x "$file" ] || continue
		has "$file" "database system is ready to accept connections"
		nr=$((nr + 1))
	done
	[ $nr -gt 0 ] || skip "none of nginx, redis and PostgreSQL is here"
}
