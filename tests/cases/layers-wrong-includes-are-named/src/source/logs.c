#include "layout.h"
#include "wire/record.h"
#include "otlp.pb-c.h"
