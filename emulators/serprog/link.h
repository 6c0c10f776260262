/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One connection: bytes from the socket become requests, each with the interval in which it
 * arrived.
 *
 * `empty_ns` is the last time at which the request was known to be incomplete: before a read that
 * came back without the rest. `read_ns` is the time after the read that brought the rest. The
 * request arrived between the two, whatever the scheduler did. If `wake_ns_max` is known and the
 * link slept for the request, it arrived at most that long before `read_ns`. If the kernel stamps
 * bytes, the interval is narrower, and `arrived_ns` is known too.
 *
 * If a wake-up suffices (struct patience), the link sleeps at once after a transfer, without the
 * read that would find nothing: `empty_ns` is earlier then. If a client sends the opcode of a
 * transfer in a separate write, only the rest of the transfer wakes the link.
 *
 * A reply may be held, to leave with the next one. Held replies are sent before the link reads,
 * sleeps or waits, so that the link and the client never wait for each other.
 */
#ifndef EMULATORS_SERPROG_LINK_H
#define EMULATORS_SERPROG_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "clock.h"
#include "codec.h"
#include "device.h"
#include "link/fault.h"
#include "listener.h"
#include "record/events.h"

/*
 * Makes one wake-up enough for clients that send a transfer in two writes: its opcode, then the
 * rest.
 *
 * Releases of flashrom do so (sp_docommand() in their serprog.c). A server that wakes for the
 * opcode cannot act on it yet. So once a client has done so, an opcode after a transfer does
 * not wake the server (SO_RCVLOWAT, socket(7)), for PATIENCE_MS at most: without this limit the
 * server would never read a request of one byte. If a request may have waited in this way, @held_up
 * is true: the time of a wake-up does not bound its arrival.
 *
 * The bytes that end such a sleep are read, but stay in the socket (MSG_PEEK, recv(2)) until the
 * reply is sent. If two small segments are taken at once, the kernel acknowledges them with a
 * separate segment, which costs a client as much as its request. If they stay, the reply
 * acknowledges them.
 *
 * All of this happens only if @wake_suffices is true. It uses no clock.
 */

/* The rest of a transfer arrives sooner than this after its opcode. */
#define PATIENCE_MS 20

struct patience {
	bool wake_suffices;    /* the time of a wake-up is enough to bound a request's arrival */
	bool held_up;          /* a request waited for longer, so that bound does not hold */
	bool piecewise;        /* this client sends an opcode in a separate write */
	bool follows_transfer; /* the last request was a transfer; nothing after it was read */
	bool patient;          /* until the next request, an opcode alone ends no sleep */
	int bytes_that_wake;
	size_t left_bytes; /* the bytes that were read and are still in the socket */
};

/* Resets the state for a new client, except wake_suffices, which the caller sets. */
void patience_init(struct patience *patience);

/* Returns true if a read now would find nothing: a client waits for the reply to its transfer. */
bool patience_expects_nothing(const struct patience *patience);

/*
 * Must be called before a sleep until @fd can be read. Returns how long to sleep, as poll() takes
 * it: PATIENCE_MS, or -1 if any byte ends the sleep.
 */
int patience_begin_ms(struct patience *patience, int fd);

/* Must be called when PATIENCE_MS have passed: from now on any byte wakes. */
void patience_end(struct patience *patience, int fd);

/* Reads as read() does, but leaves all bytes in @fd. */
ssize_t patience_read(struct patience *patience, int fd, uint8_t *bytes, size_t size);

/* Takes out of @fd the bytes that were left there. Overwrites as many bytes of @room. */
void patience_take(struct patience *patience, int fd, uint8_t *room);

/* Learns a client's behaviour from the bytes of one read. @len is at least 1. */
void patience_note_bytes(struct patience *patience, const uint8_t *bytes, size_t len);

/* Learns a client's behaviour from a request. @is_last: no bytes came after it. */
void patience_note_request(
	struct patience *patience, const struct serprog_request *request, bool is_last);

#define LINK_HELD_BYTES_MAX 64

/* The interval in which the last byte that was read arrived. Both 0: unknown. */
struct arrival {
	uint64_t since_ns;
	uint64_t until_ns;
};

struct link {
	int fd;
	int signal_fd; /* readable: stop */
	struct clock *clock;
	const struct serprog_limits *limits;
	const struct device *device; /* may answer an opcode before its arguments; NULL: never */
	bool acked_first;            /* it did so for the current request */
	struct faults *faults;       /* the faults of incoming bytes */
	struct events *events;       /* the record of faults and refused clients */
	struct listener *refusing;   /* turns further clients away, NULL: they wait */
	uint8_t *buffer;
	size_t buffer_bytes;
	size_t head; /* the beginning of bytes that are not parsed yet */
	size_t tail;
	uint32_t skip_bytes;
	uint64_t wake_ns_max;     /* the longest wake-up, from a write to our read; 0: unknown */
	bool awaited;             /* the next read follows a sleep that bytes ended */
	bool stamped;             /* the kernel stamps the bytes that arrive */
	struct arrival arrival;   /* the arrival of the last byte read */
	bool overslept;           /* the last sleep ended without bytes */
	struct patience patience; /* for an opcode that comes alone, and bytes left in @fd */
	uint8_t held[LINK_HELD_BYTES_MAX]; /* replies that leave with the next one */
	size_t held_bytes;
	uint64_t empty_ns;
	uint64_t drained_ns; /* when the last read began, if it left no bytes; else 0 */
	uint64_t read_ns;
	uint64_t arrived_ns; /* the request was complete by then; 0: unknown */
};

enum link_status {
	LINK_REQUEST,
	LINK_CLOSED,  /* by the client, or by an error of the connection */
	LINK_STOPPED, /* by a signal */
};

/* Asks the kernel to stamp bytes that arrive at @fd. Returns false if @fd is not a socket. */
bool arrival_enable(int fd);

/* Reads as read() does, from an @fd that was enabled. Sets @arrival in any case. */
ssize_t arrival_read(int fd, void *bytes, size_t size, struct arrival *arrival);

/* Returns the size of a link's @buffer. */
size_t link_buffer_bytes(const struct serprog_limits *limits);

/*
 * Takes over link->fd, which is connected and does not block. The caller sets fd, signal_fd, clock,
 * limits, device, faults, events, refusing, buffer, empty_ns, wake_ns_max and
 * patience.wake_suffices before; all other fields are zero.
 */
void link_init(struct link *link);
void link_deinit(struct link *link);

/* Blocks for the next request; its data is valid until the next call. */
enum link_status link_next(struct link *link, struct serprog_request *request);

/* Parses the next request in the buffer, and leaves it there. Returns false if it is incomplete. */
bool link_peek(const struct link *link, struct serprog_request *request);

/* Blocks until @deadline_ns, the end of the connection or a signal. FAULT_FOR_EVER: no deadline. */
enum link_status link_wait_until(struct link *link, uint64_t deadline_ns);

/* Returns why a wait of the clock ended early: LINK_STOPPED by a signal, else LINK_CLOSED. */
enum link_status link_ended(const struct link *link);

/* Records a fault that happens now. This is a fault_report_fn, and @context is the link. */
void link_report_fault(void *context, const struct fault *fault, uint64_t nth);

/*
 * Sends the held bytes and then @bytes, and blocks until all are sent. @sent_ns is the time
 * before the first byte leaves.
 */
enum link_status link_send(struct link *link, const uint8_t *bytes, size_t len, uint64_t *sent_ns);

/*
 * Holds the bytes for the next send. @sent_ns is the current time. Returns false if there is no
 * room.
 */
bool link_hold(struct link *link, const uint8_t *bytes, size_t len, uint64_t *sent_ns);

/* Sends all held bytes, and blocks until they are sent. */
enum link_status link_release(struct link *link);

#endif
