#include "ask/diff/diff.h"
#include "query/plan.h"
