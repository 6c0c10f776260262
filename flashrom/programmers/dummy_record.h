/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DUMMY_RECORD_H
#define DUMMY_RECORD_H

#include "clock.h"
#include "link/fault.h" /* from emulators/ */
#include "log.h"
#include "record/events.h"

/** The events file of a dummy programmer. Without a file the functions do nothing. */
struct dummy_record {
	struct outfile file;
	struct events events;
	struct run_facts facts;
	struct event command; /* the write cycles of one command so far; none if write_len is 0 */
};

/**
 * Opens the events file at `path`; if that is NULL, nothing is recorded. Keeps a copy of `facts`,
 * to which it adds the clock and the start time. Returns 0, or -errno (logged).
 */
int dummy_record_begin(struct dummy_record *record, const char *path, const struct run_facts *facts,
	const struct clock *clock, const struct log *log);

/** Writes the file, whole or not at all, and logs an error. */
void dummy_record_end(
	struct dummy_record *record, const struct clock *clock, const struct log *log);

/** Records a transfer of an SPI part, whose reply the driver got at `reply_ns`. */
void dummy_record_transfer(struct dummy_record *record, const struct chip_transfer *transfer,
	const struct chip_facts *facts, uint64_t reply_ns);

/** Records a write cycle. The cycles of one command become one event. */
void dummy_record_write_cycle(struct dummy_record *record, uint64_t start_ns, uint64_t end_ns,
	const struct chip_facts *facts);

/** Records read cycles of a part on a memory bus. */
void dummy_record_read_cycles(struct dummy_record *record, uint64_t start_ns, uint64_t end_ns,
	uint32_t bytes, const struct chip_facts *facts);

/** Records a fault that takes effect. */
void dummy_record_fault(
	struct dummy_record *record, uint64_t at_ns, const struct fault *fault, uint64_t nth);

#endif
