# What culprit variance said of a program that measures itself (tests/variance/programs), against what the program says.

# agrees [POINTS]: factors.json and run.culprit with truth.csv, each share within so many points
agrees() {
	"$CULPRIT" export run.culprit --format csv >run.csv || return 1
	"$ROOT/tests/variance/check" truth.csv factors.json run.csv "$@"
}
