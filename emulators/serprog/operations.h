/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The operation buffer of a serprog programmer: writes and delays that wait for O_EXEC, kept as
 * they came, so that each takes the room that the protocol gives it.
 */
#ifndef EMULATORS_SERPROG_OPERATIONS_H
#define EMULATORS_SERPROG_OPERATIONS_H

#include "codec.h"

#define OPERATIONS_BYTES 0x1000
#define OPERATIONS_WRITEN_HEAD_BYTES 7
#define OPERATIONS_WRITE_LEN_MAX (OPERATIONS_BYTES - OPERATIONS_WRITEN_HEAD_BYTES)

struct operations {
	uint8_t bytes[OPERATIONS_BYTES];
	size_t size_bytes; /* how many of them may be used */
	size_t len;
};

void operations_clear(struct operations *operations);

/* -ENOSPC: there is no room, and the buffer stays as it is. */
int operations_append(struct operations *operations, const struct serprog_request *request);

/* The operation at *@offset, which moves on to the next one; false at the end. */
bool operations_next(
	const struct operations *operations, size_t *offset, struct serprog_request *request);

#endif
