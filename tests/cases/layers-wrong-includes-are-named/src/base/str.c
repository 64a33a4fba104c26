#include "base/str.h"
#include <stdio.h>
