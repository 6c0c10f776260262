/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The library client's own events, as JSON lines; the rig merges them with the others by time. */
#ifndef LIBRARY_CLIENT_EVENTS_H
#define LIBRARY_CLIENT_EVENTS_H

#include <stdint.h>
#include <stdio.h>

/* Each line is written at once, so that a program that is ended leaves what came before; NULL: none.
 */
void events_host_start(FILE *events);

/* How many signals were handled, and how often the other threads were seen to turn. */
void events_host_end(FILE *events, uint64_t signals, uint64_t turns);

#endif
