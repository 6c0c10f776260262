/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parts that are written and read by bus cycles of one byte: parallel, LPC and FWH. The facts of
 * such a part, and its state between two cycles.
 */
#ifndef EMULATORS_MODEL_PARALLEL_H
#define EMULATORS_MODEL_PARALLEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "part.h"

#define PARALLEL_BLOCKS_MAX 16

enum parallel_bus {
	PARALLEL_BUS_PARALLEL,
	PARALLEL_BUS_LPC,
	PARALLEL_BUS_FWH,
};

/* AAh at the first address and 55h at the second go before a command. */
struct part_unlock {
	uint32_t addresses[2];
	uint32_t mask; /* the address bits that the part decodes */
};

/* How a part loads the bytes of a page before it writes them. */
struct part_page_load {
	struct figure window; /* the longest gap between two bytes; then the part begins to write */
	bool unloaded_erased; /* bytes that were not loaded become FFh; false: anything */
	bool protected_at_start;
};

/* Registers of LPC and FWH parts, 4 MiB below the array. */
struct part_registers {
	uint32_t lock_block_bytes; /* each block has a lock register; 0: there are none */
	uint8_t lock_at_start;
};

struct part_parallel {
	enum parallel_bus bus;
	uint32_t cycle_ns; /* the time of one cycle on the bus */
	uint8_t maker;
	uint8_t device;

	/* For the JEDEC families. */
	struct part_unlock unlock;
	uint8_t id_entry[2];         /* the commands that enter ID mode, 0: no second one */
	struct figure id_entry_wait; /* a wait that the client owes: no corner scales it */
	struct figure id_exit_wait;  /* 0 ns: there is no such wait */
	struct figure erase_window;  /* the time in which further sectors are taken; 0 ns: none */
	struct part_page_load load;

	/* DQ7 shows the status only at addresses where the part works; false: at any address. */
	bool dq7_in_place;
	struct part_registers registers;
	struct busy_time program; /* for a byte or a page */
};

enum unlock_step {
	UNLOCK_NOTHING,
	UNLOCK_FIRST,
	UNLOCK_SECOND,
	UNLOCK_SETUP, /* 80h came third */
	UNLOCK_SETUP_FIRST,
	UNLOCK_SETUP_SECOND,
};

/* Only the model changes the fields. */
struct parallel_state {
	enum unlock_step step;
	uint8_t armed; /* the command that the next cycle completes, 0: none */
	uint8_t polled_value;
	uint8_t status; /* the FWH command set's status without the ready bit */
	bool toggle;
	bool id_mode;
	bool status_mode;
	/* The part waits for the next cycle until then. */
	uint64_t window_until_ns;

	struct figure work; /* the duration of the current work, without its window */
	uint64_t sectors;   /* further sectors of an erase, a bit each */

	bool write_protected;
	bool loading;
	uint32_t page_count; /* the number of page writes so far */

	uint8_t locks[PARALLEL_BLOCKS_MAX];
};

#endif
