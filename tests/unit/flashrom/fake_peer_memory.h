/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef FAKE_PEER_MEMORY_H
#define FAKE_PEER_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FAKE_MEMORY_BYTES 65536
#define FAKE_WRITES_MAX 2048

/**
 * A serprog device's operation buffer, and memory that repeats every 64 KiB. It obeys every
 * request, and counts those that are too large for a device of its size.
 */
struct fake_peer_memory {
	uint16_t opbuf_bytes_max;
	uint32_t writen_bytes_max; /* 0: any */

	uint8_t bytes[FAKE_MEMORY_BYTES];
	/* Writes in the operation buffer, then executed ones, in the order of arrival. */
	struct fake_write {
		uint32_t address;
		uint8_t value;
		unsigned int exec; /* number of the O_EXEC that ran it, from 1; 0 before */
	} writes[FAKE_WRITES_MAX];
	size_t write_count;
	size_t executed_count;
	size_t opbuf_bytes;
	unsigned int execs;

	unsigned int overflows;         /* more in the operation buffer than it holds */
	unsigned int too_long;          /* O_WRITEN of more than is allowed */
	unsigned int reads_out_of_turn; /* with something left in the operation buffer */
};

void fake_peer_memory_init(struct fake_peer_memory *memory);

/* The requests O_INIT, O_WRITEB or O_WRITEN, O_EXEC, R_BYTE or R_NBYTES. */
void fake_peer_memory_clear(struct fake_peer_memory *memory);
void fake_peer_memory_write(
	struct fake_peer_memory *memory, uint32_t address, const uint8_t *data, size_t bytes);
void fake_peer_memory_execute(struct fake_peer_memory *memory);
uint8_t fake_peer_memory_read(struct fake_peer_memory *memory, uint32_t address);

/* Returns true if it could do all that was asked. */
bool fake_peer_memory_is_content(const struct fake_peer_memory *memory);

#endif
