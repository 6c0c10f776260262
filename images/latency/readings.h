/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Takes the readings of one series and writes its line. 0 or a negative errno. */
#ifndef LATENCY_READINGS_H
#define LATENCY_READINGS_H

#include <stdio.h>

#include "series.h"

int readings_of_wait(const struct series *series, unsigned int number, FILE *out);
int readings_of_sweep(const struct series *series, unsigned int number, FILE *out);
int readings_of_periods(const struct series *series, unsigned int number, FILE *out);

#endif
