/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One connection: bytes from the socket become requests, each with the interval in which it came.
 *
 * `empty_ns` is the last moment at which the request was known not to be here in full: stamped
 * before a read that came back without the rest. `read_ns` is stamped after the read that brought
 * it. The request arrived somewhere between the two, whatever the scheduler did to us meanwhile.
 * Where `wake_ns_max` is known, one that was slept for is known to have come that late at most.
 * Where the kernel notes what comes (arrival.h), that is closer, and `arrived_ns` tells it too.
 *
 * Where a wake-up suffices (patience.h), what follows a transfer is slept for at once, and the read
 * that would find nothing is left out: `empty_ns` is an earlier moment. And a client that sends the
 * opcode of a transfer by a write of its own wakes us with the rest of it alone.
 *
 * A reply may be held, to leave with the next one. Before this link reads, sleeps or lets time pass
 * all of them leave: a client never waits for a reply that only waits for its client.
 */
#ifndef EMULATORS_SERPROG_LINK_H
#define EMULATORS_SERPROG_LINK_H

#include "arrival.h"
#include "clock.h"
#include "codec.h"
#include "device.h"
#include "link/fault.h"
#include "listener.h"
#include "patience.h"
#include "record/events.h"

#define LINK_HELD_BYTES_MAX 64

struct link {
	int fd;
	int signal_fd; /* readable: stop */
	struct clock *clock;
	const struct serprog_limits *limits;
	const struct device *device; /* that may answer before it has heard all; NULL: never */
	bool acked_first;            /* it did so of the request that comes or has come */
	struct faults *faults;       /* the faults of incoming bytes */
	struct events *events;       /* where that is recorded */
	struct listener *refusing;   /* turns further clients away, NULL: they wait */
	uint8_t *buffer;
	size_t buffer_bytes;
	size_t head; /* the beginning of bytes that are not parsed yet */
	size_t tail;
	uint32_t skip_bytes;
	uint64_t wake_ns_max;   /* from a client's write to our read, where we slept; 0: unknown */
	bool awaited;           /* the next read follows a sleep that bytes ended */
	bool stamped;           /* the kernel notes what comes */
	struct arrival arrival; /* the arrival of the last byte read */
	bool overslept;         /* the last sleep ended by itself */
	struct patience patience; /* when an opcode alone wakes nobody, and what was left in @fd */
	uint8_t held[LINK_HELD_BYTES_MAX]; /* replies that leave with the next one */
	size_t held_bytes;
	uint64_t empty_ns;
	uint64_t drained_ns; /* the last read left nothing behind, as of then; 0: it may have */
	uint64_t read_ns;
	uint64_t arrived_ns; /* the request was all here; 0: nobody knows before read_ns */
};

enum link_status {
	LINK_REQUEST,
	LINK_CLOSED,  /* by the other side, or by an error of its making */
	LINK_STOPPED, /* by a signal */
};

/* The size of a link's @buffer. */
size_t link_buffer_bytes(const struct serprog_limits *limits);

/*
 * Takes over link->fd, which is connected and does not block. All that is not of its own making
 * is set by the caller: fd, signal_fd, clock, limits, faults, events, refusing, buffer, empty_ns,
 * wake_ns_max, patience.wake_suffices.
 */
void link_init(struct link *link);
void link_deinit(struct link *link);

/* Blocks for the next request; its data lives until the next call. */
enum link_status link_next(struct link *link, struct serprog_request *request);

/* The request that is here in full behind the last one, without a read; false if there is none. */
bool link_peek(const struct link *link, struct serprog_request *request);

/* Blocks until @deadline_ns, the end of the connection or a signal; FAULT_FOR_EVER is none. */
enum link_status link_wait_until(struct link *link, uint64_t deadline_ns);

/* Why a wait of the clock ended early: a signal, else the client hung up. */
enum link_status link_ended(const struct link *link);

/* Records a fault that is being done now: a fault_report_fn of which @context is the link. */
void link_report_fault(void *context, const struct fault *fault, uint64_t nth);

/*
 * Blocks until it is all sent, behind what is held. @sent_ns is stamped before the first byte of it
 * leaves.
 */
enum link_status link_send(struct link *link, const uint8_t *bytes, size_t len, uint64_t *sent_ns);

/* Keeps it for the next link_send() instead, @sent_ns as there. false where there is no room. */
bool link_hold(struct link *link, const uint8_t *bytes, size_t len, uint64_t *sent_ns);

/* Blocks until all that is held is sent. */
enum link_status link_release(struct link *link);

#endif
