#include "vmlinux.h"
#include "wire/record.h"
#include "model/event.h"
