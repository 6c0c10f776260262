/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requested faults: of a byte in a stream, of a request, of a busy time. Pure.
 *
 * The seed, the position of a fault among the requested faults, and the number of the byte or
 * request decide if it hits. When and in which pieces bytes arrive has no influence, so the same
 * seed makes the same faults.
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
	FAULT_DELAY,     /* a reply is held back; the chip has done its work before */
	FAULT_STALL,     /* a request is held back; the chip sees it afterwards */
	FAULT_HANG_UP,   /* the link is cut when the request has arrived */
	FAULT_NAK,       /* the request is refused, and does not reach the chip */
	FAULT_STUCK_WIP, /* this busy time and all later ones never end */
};

/* The targets of faults. They are counted, so that a fault can hit the N-th of a kind. */
enum fault_at {
	FAULT_AT_REPLY_BYTE,
	FAULT_AT_REQUEST_BYTE,
	FAULT_AT_REQUEST,
	FAULT_AT_BUSY,
};

struct fault {
	enum fault_kind kind;
	enum fault_at at;
	uint64_t nth;       /* from 1; 0: the fault hits by probability */
	double probability; /* that each byte or request is hit */
	uint64_t hold_ns;   /* the time for FAULT_DELAY and FAULT_STALL, or FAULT_FOR_EVER */
};

struct faults {
	struct fault fault[FAULTS_MAX];
	size_t count;
	uint64_t seed;
	uint64_t seen[FAULT_AT_BUSY + 1];             /* the counts so far, by enum fault_at */
	char text[FAULTS_MAX * FAULT_TEXT_BYTES_MAX]; /* the requested faults, joined by blanks */
};

/* Called for each fault in a stream of bytes when it happens. */
typedef void (*fault_report_fn)(void *context, const struct fault *fault, uint64_t nth);

/* Begins with no faults. */
void faults_init(struct faults *faults, uint64_t seed);

/*
 * Parses `KIND[:US]@WHEN` and adds the fault. WHEN is N, for the N-th, or `p=P`, for each with that
 * probability. drop, corrupt and duplicate count the bytes of replies, or with `in:` before WHEN
 * those of requests; delay, stall, hang-up and nak count requests. stuck-wip counts busy times and
 * takes only N. Returns 0, -EINVAL or -ENOSPC.
 */
int faults_add(struct faults *faults, const char *text);

/* Returns true if any fault would change the bytes of that stream. */
bool faults_touch(const struct faults *faults, enum fault_at at);

/* Returns true if any fault could delay the device, which then does not see new bytes at once. */
bool faults_hold(const struct faults *faults);

/* Counts one more of @at. */
void faults_count(struct faults *faults, enum fault_at at);

/* Returns the fault of that kind that hits the byte or request counted last, or NULL. */
const struct fault *faults_hit(const struct faults *faults, enum fault_kind kind, enum fault_at at);

/* Returns the number of the first busy time that never ends; 0: all end. */
uint64_t faults_stuck_from(const struct faults *faults);

/*
 * Copies @len bytes to @out with the faults that hit them, and reports these faults. @out has room
 * for 2 * @len. Returns the length of the copy. @out may overlap with @in if it begins @len bytes
 * before @in, or earlier.
 */
size_t faults_pass(struct faults *faults, enum fault_at at, const uint8_t *in, size_t len,
	uint8_t *out, fault_report_fn report, void *context);

const char *fault_kind_name(enum fault_kind kind);
const char *fault_at_name(enum fault_at at);

#endif
