/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Faults on request: in a byte of a stream, in a request, in a busy time. Pure.
 *
 * The hit depends on the seed, on the position of the fault among the requested ones and on the
 * number of faults before, never on how bytes happen to arrive: the same seed makes the same
 * faults.
 */
#ifndef EMULATORS_LINK_FAULT_H
#define EMULATORS_LINK_FAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FAULTS_MAX 8
#define FAULT_TEXT_BYTES_MAX 48
#define FAULT_FOR_EVER UINT64_MAX

enum fault_kind {
	FAULT_DROP,      /* a byte is lost */
	FAULT_CORRUPT,   /* a byte has other bits */
	FAULT_DUPLICATE, /* a byte comes twice */
	FAULT_DELAY,     /* a reply is held back: the chip has done its work by then */
	FAULT_STALL,     /* a request is not taken: the chip does not see it before */
	FAULT_HANG_UP,   /* the link is cut when the request is there */
	FAULT_NAK,       /* the request is refused, and does not reach the chip */
	FAULT_STUCK_WIP, /* the busy time never ends, and none after it */
};

/* The things that are counted. */
enum fault_at {
	FAULT_AT_REPLY_BYTE,
	FAULT_AT_REQUEST_BYTE,
	FAULT_AT_REQUEST,
	FAULT_AT_BUSY,
};

struct fault {
	enum fault_kind kind;
	enum fault_at at;
	uint64_t nth;       /* from 1; 0: by probability */
	double probability; /* the probability of each one */
	uint64_t hold_ns;   /* the time for FAULT_DELAY and FAULT_STALL, or FAULT_FOR_EVER */
};

struct faults {
	struct fault fault[FAULTS_MAX];
	size_t count;
	uint64_t seed;
	uint64_t seen[FAULT_AT_BUSY + 1];             /* the number of each so far */
	char text[FAULTS_MAX * FAULT_TEXT_BYTES_MAX]; /* as they were asked for */
};

/* Is told of each fault of a stream of bytes as it is done. */
typedef void (*fault_report_fn)(void *context, const struct fault *fault, uint64_t nth);

/* None. */
void faults_init(struct faults *faults, uint64_t seed);

/*
 * Reads `KIND[:US]@WHEN` and adds it. WHEN is N, the N-th, or `p=P`, each with that probability:
 * of the bytes of replies for drop, corrupt and duplicate (`in:` before WHEN: of requests), of the
 * requests for delay, stall, hang-up and nak. stuck-wip takes an N alone, that of a busy time.
 * -EINVAL, -ENOSPC.
 */
int faults_add(struct faults *faults, const char *text);

/* Returns true if any fault would change the bytes of that stream. */
bool faults_touch(const struct faults *faults, enum fault_at at);

/*
 * Returns true if any fault could hold up the device itself, so that it may not see new bytes at
 * once.
 */
bool faults_hold(const struct faults *faults);

/* Counts one more of @at. */
void faults_count(struct faults *faults, enum fault_at at);

/* The fault of that kind which hits what was counted last, NULL if there is none. */
const struct fault *faults_hit(const struct faults *faults, enum fault_kind kind, enum fault_at at);

/* The busy time from which on none ends; 0: they all end. */
uint64_t faults_stuck_from(const struct faults *faults);

/*
 * Passes @len bytes on to @out, which holds 2 * @len. How many came out. @out may lie @len bytes
 * before @in, or further.
 */
size_t faults_pass(struct faults *faults, enum fault_at at, const uint8_t *in, size_t len,
	uint8_t *out, fault_report_fn report, void *context);

const char *fault_kind_name(enum fault_kind kind);
const char *fault_at_name(enum fault_at at);

#endif
