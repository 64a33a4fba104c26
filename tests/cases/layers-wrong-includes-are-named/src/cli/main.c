#include "wire/record.h"
#include "ask/question.h"
