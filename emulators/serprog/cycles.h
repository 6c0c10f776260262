/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A programmer's work on a bus of cycles: what is in the operation buffer, and reads.
 *
 * It goes on in the chip's own time, cycle by cycle as long as each takes on the bus: the chip is
 * never early or late by what the scheduler did to this program.
 */
#ifndef EMULATORS_SERPROG_CYCLES_H
#define EMULATORS_SERPROG_CYCLES_H

#include "clock.h"
#include "record/events.h"
#include "operations.h"

/*
 * Runs the buffer from @start_ns on. Appends a record for each command, that is for the cycles of
 * its sequence and for the bytes of one O_WRITEN; a cycle that breaks a rule has its own. When it
 * is over, that time has passed. -ECANCELED: somebody ended it in a wait, and what is left was not
 * run.
 */
int cycles_execute(struct chip *chip, const struct operations *operations, struct clock *clock,
	uint64_t start_ns, struct events *events);

/*
 * Reads request->read_len bytes into @out, from @start_ns on. Fills @event. When it is over:
 * whoever calls must let that time pass before it replies.
 */
uint64_t cycles_read(struct chip *chip, const struct serprog_request *request, uint64_t start_ns,
	uint8_t *out, struct event *event);

#endif
