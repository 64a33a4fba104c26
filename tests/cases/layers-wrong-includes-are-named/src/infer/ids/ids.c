#include "infer/infer.h"
  # include "ask/question.h"
