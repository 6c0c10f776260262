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
#include "link/link_model.h"
#include "record/events.h"
#include "codec.h"

/*
 * The operation buffer of a serprog programmer: writes and delays that wait for O_EXEC, kept as
 * they came, so that each takes the room that the protocol gives it.
 */
#define OPERATIONS_BYTES 0x1000
#define OPERATIONS_WRITEN_HEAD_BYTES 7
#define OPERATIONS_WRITE_LEN_MAX (OPERATIONS_BYTES - OPERATIONS_WRITEN_HEAD_BYTES)

struct operations {
	uint8_t bytes[OPERATIONS_BYTES];
	size_t size_bytes; /* the number of usable ones */
	size_t len;
	const struct device_quirks *quirks; /* the quirks of the delays in it */
};

void operations_clear(struct operations *operations);

/* Returns the duration of a delay of @us that this device runs. */
uint64_t operations_delay_ns(const struct device_quirks *quirks, uint32_t us);

/* -ENOSPC: there is no room, and the buffer stays as it is. */
int operations_append(struct operations *operations, const struct serprog_request *request);

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
