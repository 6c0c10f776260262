/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the kernel says of its timers, word for word: what it means is for the reader to say. */
#ifndef LATENCY_FACTS_H
#define LATENCY_FACTS_H

#include <stdbool.h>
#include <stdio.h>

/* Whether a line of /proc/timer_list says how timers are served, rather than which there are. */
bool facts_keeps(const char *line);

int facts_write(unsigned int number, FILE *out);

#endif
