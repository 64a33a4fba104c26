#include "ask/slow/slow.h"
#include "ask/diff/diff.h"
