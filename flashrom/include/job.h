/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef JOB_H
#define JOB_H

#include "flash.h"

enum job_action {
	JOB_READ,
	JOB_WRITE,
	JOB_VERIFY,
	JOB_ERASE,
};

/** The request of a command line, or of a caller of the library, for a chip that was found. */
struct job {
	enum job_action action;
	struct selection selection; /* a count of 0 stands for the whole chip */
	uint8_t *into;              /* JOB_READ: stays as it is outside the selection */
	const uint8_t *image;       /* JOB_WRITE, JOB_VERIFY */
	const uint8_t *held;        /* JOB_WRITE: what the chip holds, if known; else NULL */
	enum verify_scope verify;   /* JOB_WRITE, JOB_ERASE */
	bool force;                 /* JOB_WRITE, JOB_ERASE: continue if protection stays */
};

/**
 * Opens the chip, does the job, and closes the chip, also after a failure. Returns 0 or the first
 * error.
 */
int job_run(struct flash *flash, const struct job *job);

#endif
