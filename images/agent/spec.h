/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The specification of a cell for the guest: a text file of `key value` lines, made by the rig for
 * each cell.
 *
 *   schema 1            must come first
 *   settle_ms N         idle time between restore and start of the subject
 *   deadline_ms N       virtual time that the subject may take before it is ended
 *   file_bytes_max N    no file that the subject writes, what it prints among them, may get longer;
 *                       without, it may
 *   siblings N          loops on the cores 1 to N until the emulator accepts its client,
 *   siblings_from start|accept
 *                       or, with windows, at their times after the subject's start or acceptance
 *   siblings_window FROM_MS TO_MS
 *                       one stretch of time in which they run; repeated, in order and apart
 *   siblings_period_ms N
 *                       after which the windows come again
 *   hogs N              loops on the subject's own core, while it runs
 *   memory_pressure 1   a process that keeps touching new memory, while the subject runs
 *   realtime_denied 1   the subject may not take real-time priority
 *   refused CALL ERROR  a kind of system call of the subject's fails so (refusal.h); repeated
 *   few_descriptors N   the subject has no more than that many descriptors,
 *   few_memory_mib N    no more than that much memory of each process,
 *   few_threads 1       no threads but its first (scarcity.h)
 *   uptime_ns N         the monotonic clock that the subject finds when it starts
 *   tsc_mhz N           the rate of the counter that the subject reads with RDTSC (tsc.h)
 *   rt_runtime_us N     real-time tasks may use that much of each second of a core
 *   wall_step [-]SECONDS EVERY_MS
 *                       the wall clock is stepped so far every so often while the subject runs
 *   leap insert|delete AFTER_MS
 *                       a leap second, that long after the subject's start
 *   stops_hz N          how often a second the subject is stopped for half of the time
 *   move start|accept AFTER_MS CORE
 *                       the subject is moved there, that long after its start or acceptance
 *   migrate HZ SEED     how often a second the subject is moved to another core, by seeded draws
 *   hotplug HZ SEED     how often a second a core but the first is taken away, or given back
 *   anywhere 1          the subject may run on any core; without, it begins on the first
 *   hogs_each N         loops on every core, while it runs
 *   rehearsal ARG       one word of a command line of the subject's that is run to its end before
 *                       the cell begins, so that all code is at hand where translating it takes
 *                       time; repeated
 *   emulator_outside 1  the emulator is the host's: the agent has none to tell anything
 *   emulator ARG        one word that the emulator, which stands by, is told; repeated
 *   bridge ARG          one word of a command that stands between emulator and subject; repeated
 *   bridge_root DIR     where its own root is
 *   bridge_makes PATH   the file that is there when it is ready
 *   root DIR            where the subject's own root is
 *   subject ARG         one word of the subject's command line; repeated
 *   image PATH SIZE_BYTES OFFSET_BYTES FROM
 *                       a file of that size, zero but for the content of FROM at that offset
 *   collect NAME PATH OFFSET_BYTES SIZE_BYTES
 *                       a file, or a part of it, that goes back to the host; size 0 means all
 */
#ifndef AGENT_SPEC_H
#define AGENT_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "refusal.h"
#include "scarcity.h"
#include "schedule.h"

#define SPEC_WORDS_MAX 63

struct spec_words {
	char *word[SPEC_WORDS_MAX + 1]; /* ends with NULL, ready for execv() */
	size_t count;
};

#define SPEC_FILES_MAX 16

struct spec_image {
	char *path;
	unsigned long size_bytes;
	unsigned long offset_bytes;
	char *from;
};

struct spec_collect {
	char *name;
	char *path;
	unsigned long offset_bytes;
	unsigned long size_bytes;
};

/*
 * The time by which a leap second is announced before: the kernel takes note at the second before.
 */
#define SPEC_LEAP_AHEAD_MS 1100

enum spec_leap {
	SPEC_LEAP_NONE,
	SPEC_LEAP_INSERT,
	SPEC_LEAP_DELETE,
};

/* The actions on the subject; all zero if there are none. */
struct spec_hazards {
	unsigned int siblings;
	bool siblings_from_accept;
	struct schedule siblings_schedule;
	unsigned int hogs;
	unsigned int hogs_each;
	bool memory_pressure;
	bool realtime_denied;
	struct refusals refused;
	struct scarcity few;
	uint64_t uptime_ns;   /* 0: the machine's */
	unsigned int tsc_mhz; /* 0: the machine's */
	unsigned int rt_runtime_us;
	int64_t wall_step_s;
	unsigned int wall_step_every_ms;
	enum spec_leap leap;
	unsigned int leap_after_ms;
};

/* A rate, and the seed of what is drawn. */
struct spec_draws {
	unsigned int hz;
	unsigned long seed;
};

/* How the subject gets from core to core; all of it zero where it stays on the first. */
struct spec_movement {
	bool moves;
	bool move_from_accept;
	unsigned int move_after_ms;
	unsigned int move_to_core;
	struct spec_draws migrate;
	struct spec_draws hotplug;
	bool anywhere;
};

struct spec {
	unsigned int settle_ms;
	unsigned int deadline_ms;
	unsigned long file_bytes_max; /* 0: no limit */
	unsigned int stops_hz;
	struct spec_hazards hazards;
	struct spec_movement movement;
	bool emulator_outside;
	char *root;
	char *bridge_root;
	char *bridge_makes;
	struct spec_words emulator;
	struct spec_words subject;
	struct spec_words rehearsal;
	struct spec_words bridge;
	struct spec_image image[SPEC_FILES_MAX];
	size_t images;
	struct spec_collect collect[SPEC_FILES_MAX];
	size_t collects;
};

/*
 * Parses `text` in place; the spec then points into it.
 * Returns 0, or the number of the first line that is wrong.
 */
size_t spec_parse(char *text, struct spec *spec);

/* A command of one word a line, in place. False where it has none, too many, or no end. */
bool spec_parse_words(char *text, struct spec_words *words);

#endif
