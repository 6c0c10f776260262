/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The events of any programmer, as records of fixed size. Appending one formats no text and opens
 * no file: a guest of 16 MIPS has no time for that between two requests. jsonl_write() writes the
 * records at the end, to a file that appears when it is complete.
 */
#ifndef EMULATORS_RECORD_EVENTS_H
#define EMULATORS_RECORD_EVENTS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "model/start_state.h"

#define EVENTS_CHUNK_COUNT 16384
#define EVENTS_CHUNKS_MAX 1024
#define EVENTS_COUNT_MAX (EVENTS_CHUNK_COUNT * EVENTS_CHUNKS_MAX)

enum event_kind {
	EVENT_ACCEPT,  /* at read_ns */
	EVENT_BARRIER, /* reached at read_ns, released at reply_ns */
	EVENT_SERPROG, /* a request that was refused, or is neither a transfer nor a read */
	EVENT_SPI,
	EVENT_CYCLE,      /* all cycles of a command or a read, on a bus that is not SPI */
	EVENT_DISCONNECT, /* at read_ns */
	EVENT_REFUSED,    /* at read_ns: a second client was refused */
	EVENT_STARTS,     /* at read_ns: the part is in the state of that name */
	EVENT_FAULT,      /* at read_ns: a requested fault happened */
	EVENT_GAVE_UP,    /* at read_ns: the client was cut off because it exceeded a bound */
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
	bool executed; /* the request of a later record (O_EXEC) executed it */
	uint32_t write_len;
	uint32_t read_len;
	uint64_t empty_ns;      /* the last time when the request was known to be incomplete */
	uint64_t read_ns;       /* the request was read */
	uint64_t arrived_ns;    /* the latest possible arrival of the request; 0: not known */
	uint64_t reply_ns;      /* just before the reply was written */
	uint64_t start_ns;      /* for EVENT_CYCLE: its first cycle, in the chip's time */
	uint64_t wire_ns;       /* the time of the transfer on the emulated wire */
	const char *fault_at;   /* for EVENT_FAULT: the thing that is counted */
	uint64_t fault_nth;     /* its number, from 1 */
	uint64_t fault_ns;      /* for how long something was held up; UINT64_MAX: for ever */
	uint64_t bound;         /* for EVENT_GAVE_UP: the value of the bound */
	struct chip_facts chip; /* for EVENT_SPI and EVENT_CYCLE */
};

/*
 * Adds a write cycle to the record of its command, whose write_len is 0 before the first cycle. The
 * record keeps the facts of the last cycle, with the remaining busy time of the first, and the
 * margin of the last cycle that has one.
 */
void event_add_cycle(struct event *command, const struct chip_facts *facts, uint64_t cycle_ns);

struct events {
	struct event *chunks[EVENTS_CHUNKS_MAX];
	size_t chunk_count;
	size_t count;
	size_t lost_count; /* records lost for lack of memory; a clean run has none */
};

/* Reserves memory for @count records; more is added as they come. Returns 0 or -ENOMEM. */
int events_init(struct events *events, size_t count);
void events_deinit(struct events *events);

void events_append(struct events *events, const struct event *event);

/*
 * Puts the chip into the state and appends EVENT_STARTS, even if the part is not busy then, because
 * the verdict needs the state.
 */
void events_start_chip(
	struct events *events, struct chip *chip, enum start_state state, uint64_t now_ns);

/* Copies the connection times of @request to the cycles that it executed, from @first on. */
void events_stamp(struct events *events, size_t first, const struct event *request);

/* Returns the record at @index, which must be below events->count. */
const struct event *events_at(const struct events *events, size_t index);

/*
 * Writes events as JSON lines. The keys and their order are described in
 * rig/docs/reference/events.md.
 */

/* The content of the first line. */
struct run_facts {
	uint64_t start_ns;
	const struct part *part;
	struct corner corner;
	uint64_t seed;
	bool native_delay;
	const char *clock_name;
	uint64_t clock_step_ns; /* the error of one reading */
	uint32_t clock_rate_error_ppm;
	bool wake_measured;
	uint64_t wake_latency_ns_min;
	uint64_t wake_latency_ns_max;
	const char *link;   /* NULL: no link is modelled; contains a-z, digits and ,=-_ only */
	const char *faults; /* the requested faults, NULL: none; also contains @ : . and blanks */
};

/* The content of the last line besides its counts. */
struct run_end {
	uint64_t end_ns;
	bool clean; /* the clock never ran backwards and no record was lost */
};

/* Writes all lines, from `start` to `end`. Returns 0, or -EIO if the stream fails. */
int jsonl_write(FILE *out, const struct run_facts *facts, const struct events *events,
	const struct run_end *end);

/*
 * A file that appears under its name only when it is complete: it is written beside that name,
 * synced and renamed. A device or a pipe is written directly, because a rename would replace it.
 */

struct outfile {
	FILE *stream; /* NULL: not open */
	const char *path;
	char temporary[PATH_MAX]; /* empty: the file is written directly */
};

/* Opens the file. Call it early, so that a bad path fails before the work. Returns 0 or -errno. */
int outfile_open(struct outfile *file, const char *path);

/* Makes the file visible under its name, and closes it in any case. Returns 0 or -errno. */
int outfile_commit(struct outfile *file);

/* Closes and removes the file if it was not committed. */
void outfile_deinit(struct outfile *file);

#endif
