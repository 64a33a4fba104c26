# Which Java machines the tests run with. All of them may be run with another one than the system's, by its folder in front of
# PATH; where that is a JRE, the system's javac compiles for it.

# java_is_8 [JAVA]
java_is_8() {
	"${1:-java}" -version 2>&1 | grep -q 'version "1\.8\.'
}

# javac_for JAVA WORD...: into what this machine understands
javac_for() {
	local older=()
	! java_is_8 "$1" || older=(-Xlint:-options --release 8)
	javac "${older[@]}" "${@:2}"
}

# needs_newer REASON: Java 8 has not got it
needs_newer() {
	! java_is_8 || skip "Java 8 has no $1"
}
