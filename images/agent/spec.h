/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The specification of a cell for the guest: a text file of `key value` lines, made by the rig for
 * each cell.
 *
 *   schema 1            must come first
 *   settle_ms N         idle time between the snapshot's restore and the subject's start
 *   deadline_ms N       time that the subject may take before it is killed
 *   file_bytes_max N    limit of each file that the subject writes, its output included; without:
 *                       no limit
 *   siblings N          loops on the cores 1 to N; without windows, until the emulator accepts its
 *                       client
 *   siblings_from start|accept
 *                       the windows count from the subject's start or acceptance
 *   siblings_window FROM_MS TO_MS
 *                       a window of time in which the siblings run; repeated, in order, no overlap
 *   siblings_period_ms N
 *                       the period after which the windows are repeated
 *   hogs N              loops on the subject's own core, while it runs
 *   memory_pressure 1   a process that keeps touching new memory, while the subject runs
 *   realtime_denied 1   the subject may not take real-time priority
 *   refused CALL ERROR  the subject's system calls of that kind fail (struct refusals); repeated
 *   few_descriptors N   limit of the subject's descriptors
 *   few_memory_mib N    limit of the address space of each of its processes
 *   few_threads 1       no threads besides its first
 *   uptime_ns N         the monotonic clock when the subject starts
 *   tsc_mhz N           the rate of the counter that the subject reads with RDTSC (tsc.h)
 *   rt_runtime_us N     the time of each second that real-time tasks may use of a core
 *   wall_step [-]SECONDS EVERY_MS
 *                       a step of the wall clock, repeated while the subject runs
 *   leap insert|delete AFTER_MS
 *                       a leap second, that long after the subject's start
 *   stops_hz N          SIGSTOPs to the subject in each second, each for half a period
 *   move start|accept AFTER_MS CORE
 *                       a move of the subject, that long after its start or acceptance
 *   migrate HZ SEED     moves of the subject in each second, each to a random other core
 *   hotplug HZ SEED     changes in each second: a random core, but never the first, goes offline,
 *                       or that core comes back online
 *   anywhere 1          the subject may run on any core; without: it begins on the first
 *   hogs_each N         loops on every core, while the subject runs
 *   rehearsal ARG       one word of a command line of the subject that runs before the cell begins,
 *                       because code that runs for the first time is slow in QEMU; repeated
 *   emulator_outside 1  the guest has no emulator: it is on the host, or QEMU has the chip
 *   emulator ARG        one word for the emulator, which waits for its command line; repeated
 *   bridge ARG          one word of the command that connects emulator and subject; repeated
 *   bridge_root DIR     the root folder of the bridge
 *   bridge_makes PATH   a file that exists when the bridge is ready
 *   root DIR            the root folder of the subject
 *   subject ARG         one word of the subject's command line; repeated
 *   image PATH SIZE_BYTES OFFSET_BYTES FROM
 *                       a file of that size, with the content of FROM at that offset, otherwise 0
 *   collect NAME PATH OFFSET_BYTES SIZE_BYTES
 *                       a file, or a part of it, for the host; size 0 means up to its end
 */
#ifndef AGENT_SPEC_H
#define AGENT_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A schedule: windows of time, relative to its origin, once or repeated. */

#define SCHEDULE_WINDOWS_MAX 16
#define SCHEDULE_NEVER_NS UINT64_MAX

struct schedule_window {
	uint64_t from_ns;
	uint64_t to_ns;
};

/* The windows are in order and do not overlap; with a period, all of them end within it. */
struct schedule {
	struct schedule_window window[SCHEDULE_WINDOWS_MAX];
	size_t count;
	uint64_t period_ns; /* 0: the windows are not repeated */
};

/* Returns true if `at_ns` is in a window; a window includes its beginning, but not its end. */
bool schedule_open(const struct schedule *schedule, uint64_t at_ns);

/* Returns the first beginning or end after `at_ns`; SCHEDULE_NEVER_NS if there is none. */
uint64_t schedule_next_edge_ns(const struct schedule *schedule, uint64_t at_ns);

/* Limits of a subject, and its uptime. */

/* The most that a subject may have; 0: no limit. */
struct scarcity {
	unsigned int descriptors;
	unsigned int memory_mib; /* the address space of each process */
	bool no_threads;
};

/*
 * Limits the calling process and all that it starts. To refuse threads the caller must be root.
 * Returns 0 or a negative errno.
 */
int scarcity_begin(const struct scarcity *scarcity);

/*
 * Sets CLOCK_MONOTONIC and CLOCK_BOOTTIME to `uptime_ns` for the processes that the caller forks
 * until uptime_end(). Returns a descriptor for that call, or a negative errno.
 */
int uptime_begin(uint64_t uptime_ns);

/* Returns to the machine's clocks for later forks. Returns 0 or a negative errno. */
int uptime_end(int descriptor);

/* System calls that a filter refuses to the subject, as in containers. */

#define REFUSALS_MAX 8

/* A kind of call, as an index into the table of refusal.c, and the error that it returns. */
struct refusal {
	size_t kind;
	int error;
};

struct refusals {
	struct refusal of[REFUSALS_MAX];
	size_t count;
};

/*
 * Adds a kind of call ("sleep", "select", "poll", "timerfd" or "clock") and its error ("eperm",
 * "enosys" or "einval"). Returns false if one of them is unknown, or there is no room.
 */
bool refusals_add(struct refusals *refusals, const char *kind, const char *error);

/*
 * Refuses these calls to the calling process and to all that it starts. The caller needs
 * CAP_SYS_ADMIN. Returns 0 or a negative errno.
 */
int refusals_install(const struct refusals *refusals);

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
 * The time from the announcement of a leap second to the leap second. It is longer than a second,
 * because the kernel prepares the leap second when the last second before it begins.
 */
#define SPEC_LEAP_AHEAD_MS 1100

enum spec_leap {
	SPEC_LEAP_NONE,
	SPEC_LEAP_INSERT,
	SPEC_LEAP_DELETE,
};

/* The hazards; all zero if there are none. */
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

/* A rate of events, and the seed of their random draws. */
struct spec_draws {
	unsigned int hz;
	unsigned long seed;
};

/* The subject's moves from core to core; all zero if it stays on the first. */
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
 * Parses `text` in place; the spec then points into it. Returns 0, or the number of the first line
 * that is wrong, or of the line after the last if the lines do not make a whole spec.
 */
size_t spec_parse(char *text, struct spec *spec);

/*
 * Parses a command of one word a line, in place. Returns false if there are no or too many words,
 * or if the last line has no newline.
 */
bool spec_parse_words(char *text, struct spec_words *words);

#endif
