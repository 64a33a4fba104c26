#include "elsewhere/thing.h"
