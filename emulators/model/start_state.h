/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a client finds a part: not always ready and idle. What is under way is at the part's first
 * block, and begins at a moment that a client can know of, so that none is blamed for what it could
 * not see: it looks a part up that may be busy, wakes one that is silent, and waits after it turned
 * its pins on.
 */
#ifndef EMULATORS_MODEL_START_STATE_H
#define EMULATORS_MODEL_START_STATE_H

#include "chip.h"

enum start_state {
	START_READY,    /* idle for ever */
	START_FRESH,    /* power came when the client turned the pins on */
	START_RAMP_1MS, /* the supply began to rise then: until it is up, the part is not there */
	START_RAMP_10MS,
	START_RAMP_100MS,
	START_RESETTING,  /* a reset began then */
	START_ASLEEP,     /* in deep power-down */
	START_ERASING,    /* the smallest erase began when the client connected */
	START_SUSPENDING, /* an erase was told to suspend, just before the client's first command */
	START_ERASE_SUSPENDED,
	START_PROGRAM_SUSPENDED,
	START_DEAF_SUSPENDED, /* a program that no resume continues: the part has to be reset */
	START_WRITE_ENABLED,
	START_PROTECTED, /* all its block protection bits are set */
};

/* When a state begins. */
enum start_moment {
	START_AT_CONNECT,
	START_AT_PINS,    /* the programmer turns its pins on */
	START_AT_COMMAND, /* just before the first command for the part */
};

/* -EINVAL for what is the name of no state. */
int start_state_parse(const char *text, enum start_state *state);
const char *start_state_name(enum start_state state);

enum start_moment start_state_moment(enum start_state state);

/* Returns true if a part can start like that: SPI NOR, with the necessary commands and figures. */
bool start_state_fits(enum start_state state, const struct part *part);

/*
 * Puts a part that is ready into the state, which has to fit it, at @now_ns. @facts are those of
 * the work that is under way then, if any.
 */
void chip_start_in(
	struct chip *chip, enum start_state state, uint64_t now_ns, struct chip_facts *facts);

#endif
