/* Names of months and days of the week, in the languages that logs are written in. */
#ifndef CULPRIT_SOURCE_LAYOUT_MONTH_H
#define CULPRIT_SOURCE_LAYOUT_MONTH_H

#include <stdbool.h>

#include "base/str.h"

/* Whole or shortened, with or without a dot; month from 1. */
bool layout_month_take(struct str *s, int *month);
/* An English one, and a comma if one follows. */
bool layout_weekday_take(struct str *s);

#endif
