/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state in which a client finds a part, which is not always ready and idle. Work that is under
 * way concerns the first block. A state begins at an event that the client can observe, so that the
 * client can avoid each violation: it can poll a part that may be busy, wake one that does not
 * answer, and wait after it has turned its pins on.
 */
#ifndef EMULATORS_MODEL_START_STATE_H
#define EMULATORS_MODEL_START_STATE_H

#include "chip.h"

enum start_state {
	START_READY,    /* idle, powered up long ago */
	START_FRESH,    /* power came when the client turned the pins on */
	START_RAMP_1MS, /* the same, but the supply rises for 1 ms; the part is silent until then */
	START_RAMP_10MS,
	START_RAMP_100MS,
	START_RESETTING,  /* a reset began when the client turned the pins on */
	START_ASLEEP,     /* in deep power-down */
	START_ERASING,    /* the smallest erase began when the client connected */
	START_SUSPENDING, /* an erase was suspended just before the first command */
	START_ERASE_SUSPENDED,
	START_PROGRAM_SUSPENDED,
	START_DEAF_SUSPENDED, /* a suspended program that only a reset ends: a resume does nothing
			       */
	START_WRITE_ENABLED,
	START_PROTECTED, /* all its block protection bits are set */
};

/* When a state begins. */
enum start_moment {
	START_AT_CONNECT,
	START_AT_PINS,    /* the programmer turns its pins on */
	START_AT_COMMAND, /* just before the first command for the part */
};

/* Parses the name of a state. Returns 0 or -EINVAL. */
int start_state_parse(const char *text, enum start_state *state);
const char *start_state_name(enum start_state state);

enum start_moment start_state_moment(enum start_state state);

/* Returns true for START_READY, and for SPI NOR with the commands and figures of @state. */
bool start_state_fits(enum start_state state, const struct part *part);

/*
 * Puts a ready part into @state, which must fit it, at @now_ns. Fills @facts with those of the work
 * that is then under way, if any.
 */
void chip_start_in(
	struct chip *chip, enum start_state state, uint64_t now_ns, struct chip_facts *facts);

#endif
