/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a reading costs by itself: what every figure of this program has in it. */
#ifndef LATENCY_AUDIT_H
#define LATENCY_AUDIT_H

#include <stdio.h>

int audit_write(unsigned int number, FILE *out);

#endif
