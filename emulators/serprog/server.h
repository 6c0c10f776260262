/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Serves clients one after another: accept, answer until they leave, record. */
#ifndef EMULATORS_SERPROG_SERVER_H
#define EMULATORS_SERPROG_SERVER_H

#include "device.h"
#include "link/fault.h"
#include "listener.h"
#include "model/start_state.h"
#include "record/events.h"
#include "standby.h"

struct server {
	struct device *device;
	struct clock *clock;
	struct events *events;
	struct faults *faults;
	struct listener *listener;
	bool refuses;  /* clients that come while one is there, instead of letting them wait */
	int signal_fd; /* readable: stop */
	struct fd_pair barrier;  /* -1: no barrier */
	uint8_t *request_buffer; /* link_buffer_bytes() in size */
	uint8_t *reply_buffer;   /* server_reply_buffer_bytes() in size */
	uint64_t empty_ns;       /* no client could be there yet */
	uint64_t wake_ns_max;    /* for struct link */
	bool wake_suffices;      /* for struct patience */
	bool held_up;            /* for struct patience, by any client */
	uint64_t reply_count;    /* the limit for all clients */
	uint64_t replied_ns;   /* the last reply: no transfer begins before the one before ended */
	uint64_t line_free_ns; /* the line to the device has carried what came before */
	/* The events of all clients after which the last one is hung up on */
	size_t records_max;
	size_t refused_requests;      /* this client's */
	size_t idle_requests;         /* this client's in a row that were not for the part */
	bool gave_up;                 /* on this client */
	bool cut_off;                 /* a signal came while a client was there */
	enum start_state start_state; /* in which the first client finds the part, ... */
	bool has_begun;               /* ... once its moment has come */
};

/*
 * Past so many requests in a row that are not for the part a client is hung up on: bytes that mean
 * nothing, or NOPs without end. A flashrom makes some twenty to begin with; what puts operations
 * into a buffer of 64 KiB, one by one, makes 13107 of 5 bytes each.
 */
#define SERVER_IDLE_REQUESTS_MAX 65536

/*
 * Past so many requests that are refused a client is hung up on: a flashrom ends at the first one.
 * So many bytes that follow one which was too long, and are passed over, count as one more: of
 * random bytes, one in a hundred announces 8 MiB.
 */
#define SERVER_REFUSED_REQUESTS_MAX 4096
#define SERVER_REFUSED_BYTES 4096

/* The size of server->reply_buffer. */
size_t server_reply_buffer_bytes(const struct serprog_limits *limits);

/*
 * Serves @client_count clients, 0: until stopped. 0 also when a signal ended it, or when there are
 * server->records_max records; -EPIPE: whoever holds the other end of the barrier is gone; any
 * other negative errno: no client can be accepted.
 */
int server_run(struct server *server, unsigned int client_count);

#endif
