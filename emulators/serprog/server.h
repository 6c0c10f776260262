/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Serves clients one after another: accept, answer until they leave, record. */
#ifndef EMULATORS_SERPROG_SERVER_H
#define EMULATORS_SERPROG_SERVER_H

#include <stddef.h>

#include "device.h"
#include "link/fault.h"
#include "listener.h"
#include "model/start_state.h"
#include "record/events.h"

/*
 * The rest of the command line, sent to a running server. So the work that is the same for every
 * chip can be done, and kept in a snapshot of the machine, before the chip is known.
 */

/* Pipes to the process that started the server: the server writes to @out and reads from @in. */
struct fd_pair {
	int out;
	int in;
};

#define STANDBY_TEXT_BYTES 16384
#define STANDBY_WORDS_MAX 128

struct standby_words {
	char text[STANDBY_TEXT_BYTES];
	char *argv[STANDBY_WORDS_MAX + 1]; /* as main() gets it: word 0 is the program's name */
	int argc;
};

/*
 * Writes one byte to fds->out, then reads words from fds->in until its end; each ends with a NUL.
 * Closes both. Returns -ECANCELED if @signal_fd is readable first, -EPIPE if the byte cannot be
 * written, -E2BIG for too many bytes or words, -EINVAL if the last word has no NUL, else the
 * negative errno of what failed.
 */
int standby_wait(const struct fd_pair *fds, int signal_fd, struct standby_words *words);

struct server {
	struct device *device;
	struct clock *clock;
	struct events *events;
	struct faults *faults;
	struct listener *listener;
	bool refuses;            /* hang up on further clients instead of letting them wait */
	int signal_fd;           /* readable: stop */
	struct fd_pair barrier;  /* -1: no barrier */
	uint8_t *request_buffer; /* link_buffer_bytes() in size */
	uint8_t *reply_buffer;   /* server_reply_buffer_bytes() in size */
	uint64_t empty_ns;       /* the last time at which no client was there */
	uint64_t wake_ns_max;    /* for struct link */
	bool wake_suffices;      /* for struct patience */
	bool held_up;            /* struct patience held up a request of some client */
	uint64_t reply_count;    /* the replies over a link that takes time, to all clients */
	uint64_t replied_ns;     /* when the last reply left; the next transfer begins no earlier */
	uint64_t line_free_ns;   /* when the line has carried all requests so far */
	/* The number of events, of all clients, at which the server hangs up on its client */
	size_t records_max;
	size_t refused_requests;      /* the refused requests of this client */
	size_t idle_requests;         /* its last requests in a row that were not for the part */
	bool gave_up;                 /* this client reached a bound */
	bool cut_off;                 /* a signal came while a client was there */
	enum start_state start_state; /* the state in which the first client finds the part */
	bool has_begun;               /* that state has begun */
};

/*
 * The server hangs up after this number of requests in a row that are not for the part, such as
 * NOPs or bytes that are no opcode. A flashrom begins with about twenty of them. Writes into the
 * operation buffer count too, but it holds at most 819 of them (5 bytes each).
 */
#define SERVER_IDLE_REQUESTS_MAX 65536

/*
 * The server hangs up after this number of refused requests; a flashrom ends at the first one. If a
 * request is oversized, each SERVER_REFUSED_BYTES of its data, which are dropped, count as one
 * more. Otherwise random bytes would keep the server busy: about one request in a hundred announces
 * 8 MiB.
 */
#define SERVER_REFUSED_REQUESTS_MAX 4096
#define SERVER_REFUSED_BYTES 4096

/* Returns the size of server->reply_buffer. */
size_t server_reply_buffer_bytes(const struct serprog_limits *limits);

/*
 * Serves @client_count clients; 0: until stopped. Returns 0 also after a signal or at
 * server->records_max records, -EPIPE if the other end of the barrier is closed, and another
 * negative errno if no client can be accepted.
 */
int server_run(struct server *server, unsigned int client_count);

#endif
