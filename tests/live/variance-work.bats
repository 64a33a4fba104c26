#!/usr/bin/env bats
# culprit variance and amounts of work: told by the user, and found by itself.

setup() {
	[ "$(uname -m)" = x86_64 ] || skip "functions are watched on x86-64 only"
	[ "$(id -u)" = 0 ] || skip "needs root"
	cd "$BATS_TEST_TMPDIR" || return 1
}

# variance SECONDS OPTION...: watches the program; what goes with which amount is compared then
variance() {
	local seconds=$1
	shift
	timeout -s KILL 900 "$CULPRIT" variance --json -o run.culprit --for 600s --interval process_order "$@" -- "$BUILD/tests/variance/variance-amounts" "$seconds" \
		>factors.json 2>said 3>&- 4>&- || { cat said; return 1; }
}

# goes_with FACTOR AMOUNT: where the machine left it time to run
goes_with() {
	python3 - "$1" "$2" <<'END'
import json, sys
for r in map(json.loads, open("factors.json")):
    if r.get("factor") == [sys.argv[1]]:
        print(r)
        busy = sum(r.get("waits", {}).values())
        want = sys.argv[2] or None
        if want is None:
            assert not r.get("inherent")
        elif busy < 0.2:
            assert r.get("inherent") and r["work"] == want
        else:
            assert r.get("work") == want or r.get("work_share", 0) < 0.7
        break
else:
    assert False, "no such factor"
END
}

@test "an amount that the user names: what goes with it is inherent, what does not is not" {
	variance 8 --work 'sort_rows(arg1)'
	goes_with sort_rows 'sort_rows(arg1)'
	goes_with wander ''
	# and the run knows the amounts
	mv factors.json live.json
	"$CULPRIT" variance run.culprit --json >factors.json
	python3 - <<'END'
import json
def works(path):
    return {tuple(r["factor"]): (r.get("inherent", False), r.get("work")) for r in map(json.loads, open(path)) if "factor" in r}
live, run = works("live.json"), works("factors.json")
assert live == run and any(work == "sort_rows(arg1)" for _, work in live.values()), (live, run)
END
}

@test "arguments and results are tried" {
	[ "$LIVE" = all ] || skip "slow: make test-live"
	variance 35
	goes_with sort_rows 'sort_rows(arg1)'
	goes_with wander ''
}

@test "an amount needs a value" {
	run "$CULPRIT" variance --no-run --interval process_order --work sort_rows -- "$BUILD/tests/variance/variance-amounts" 1
	[ "$status" = 2 ]
	[[ "$output" == *"--work needs a value"* ]]
}
