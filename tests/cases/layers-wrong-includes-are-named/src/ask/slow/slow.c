#include "ask/question.h"
#include "ask/diff/diff.h"
#include "infer/ids/ids.h"
