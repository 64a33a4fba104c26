#include "base/str.h"

#include "store/store.h"
