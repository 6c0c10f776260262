/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The events of any programmer, as records of fixed size. Appending formats nothing and opens no
 * file: a guest of 16 MIPS has no time for that between two requests. jsonl.h writes them at the
 * end.
 */
#ifndef EMULATORS_RECORD_EVENTS_H
#define EMULATORS_RECORD_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/chip.h"

#define EVENTS_CHUNK_COUNT 16384
#define EVENTS_CHUNKS_MAX 1024
#define EVENTS_COUNT_MAX (EVENTS_CHUNK_COUNT * EVENTS_CHUNKS_MAX)

enum event_kind {
	EVENT_ACCEPT,  /* at read_ns */
	EVENT_BARRIER, /* reached at read_ns, released at reply_ns */
	EVENT_SERPROG, /* a request that is not for the chip */
	EVENT_SPI,
	EVENT_CYCLE,      /* cycles on a bus that is not SPI: all of a command, or of a read */
	EVENT_DISCONNECT, /* at read_ns */
	EVENT_REFUSED,    /* at read_ns: a second client was turned away */
	EVENT_STARTS,     /* at read_ns: the part is in the state of that name */
	EVENT_FAULT,      /* at read_ns: one that was asked for was done */
	EVENT_GAVE_UP,    /* at read_ns: this client was hung up on, since it went past a bound */
};

struct event {
	enum event_kind kind;
	/*
	 * The name of the request of EVENT_SERPROG, the kind of EVENT_FAULT, the state of
	 * EVENT_STARTS, or the bound of EVENT_GAVE_UP.
	 */
	const char *name;
	uint8_t op; /* for serprog */
	bool ack;
	bool executed; /* by the request of a record that follows */
	uint32_t write_len;
	uint32_t read_len;
	uint64_t empty_ns;      /* the request was known not to be all here */
	uint64_t read_ns;       /* the request was read */
	uint64_t arrived_ns;    /* the request was here already; 0: not known */
	uint64_t reply_ns;      /* just before the reply was written */
	uint64_t start_ns;      /* for EVENT_CYCLE: its first cycle, in the chip's time */
	uint64_t wire_ns;       /* time that the transfer took on the emulated wire */
	const char *fault_at;   /* for EVENT_FAULT: the thing that was counted */
	uint64_t fault_nth;     /* its number, from 1 */
	uint64_t fault_ns;      /* the time that it held things up, UINT64_MAX: forever */
	uint64_t bound;         /* for EVENT_GAVE_UP */
	struct chip_facts chip; /* for EVENT_SPI and EVENT_CYCLE */
};

/*
 * Adds a write cycle to the record of its command. Its first one, where write_len is 0, settles a
 * wait.
 */
void event_add_cycle(struct event *command, const struct chip_facts *facts, uint64_t cycle_ns);

struct events {
	struct event *chunks[EVENTS_CHUNKS_MAX];
	size_t chunk_count;
	size_t count;
	size_t lost_count; /* not kept for want of memory: a sound run has none */
};

/* Holds @count records before it needs more memory. -ENOMEM. */
int events_init(struct events *events, size_t count);
void events_deinit(struct events *events);

void events_append(struct events *events, const struct event *event);

/* The moments on the connection of the request that executed the cycles from @first on. */
void events_stamp(struct events *events, size_t first, const struct event *request);

/* @index is below events->count. */
const struct event *events_at(const struct events *events, size_t index);

#endif
