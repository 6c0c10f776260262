/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef FAKE_PEER_H
#define FAKE_PEER_H

#include <pthread.h>
#include <stdbool.h>

#include "../cases.h"
#include "captured_log.h"
#include "programmers.h"

#define FAKE_MEMORY_BYTES 65536
#define FAKE_WRITES_MAX 2048

/**
 * The operation buffer and the memory of a serprog device. The memory repeats every 64 KiB. The
 * device obeys every request, and counts those that are too large or come at the wrong time.
 */
struct fake_peer_memory {
	uint16_t opbuf_bytes_max;
	uint32_t writen_bytes_max; /* 0: any */

	uint8_t bytes[FAKE_MEMORY_BYTES];
	/* Executed writes, then those in the operation buffer, in the order of arrival. */
	struct fake_write {
		uint32_t address;
		uint8_t value;
		unsigned int exec; /* number of the O_EXEC that ran it, from 1; 0 before */
	} writes[FAKE_WRITES_MAX];
	size_t write_count;
	size_t executed_count;
	size_t opbuf_bytes;
	unsigned int execs;

	unsigned int overflows;         /* writes that did not fit into the operation buffer */
	unsigned int too_long;          /* writes of more than writen_bytes_max */
	unsigned int reads_out_of_turn; /* bytes read while the operation buffer held writes */
};

/* Returns true if all counts of bad requests are 0. */
bool fake_peer_memory_is_content(const struct fake_peer_memory *memory);

/* The faults of a peer. */
enum peer_fault {
	PEER_FINE,
	PEER_SILENT,         /* never answers */
	PEER_BABBLES,        /* sends bytes without end */
	PEER_SPIOP_REFUSED,  /* NAK */
	PEER_SPIOP_GARBAGE,  /* neither ACK nor NAK */
	PEER_SPIOP_HANGS_UP, /* closes after the ACK */
	PEER_SPIOP_STOPS,    /* goes silent half way through the answer */
	PEER_WRITE_REFUSED,  /* NAK for the third memory write */
	PEER_WRITE_GARBAGE,  /* neither ACK nor NAK for it */
	PEER_WRITE_HANGS_UP, /* closes instead of answering it */
	PEER_EXEC_REFUSED,   /* NAK */
	PEER_READ_REFUSED,   /* NAK for a memory read */
};

/*
 * A serprog device in a thread, at one end of a socket pair. Set the fields, start it, use and
 * close `fd`, then stop it; counts may be read after that. It answers a SPI operation with bytes
 * that count up from the first byte sent.
 */
struct fake_peer {
	enum peer_fault fault;
	uint16_t version;
	uint8_t buses;
	uint32_t write_bytes_max;
	uint32_t read_bytes_max;
	uint16_t serbuf_bytes;
	bool slow; /* reads only when no more bytes come in, so that the serial buffer fills */
	uint8_t map[32];
	const char *late;     /* sent before the first answer to SYNCNOP */
	unsigned int swallow; /* ignores this many bytes first, as if they ended a request */
	const char *leftover; /* sent before anything else */

	int fd; /* the client's end */
	unsigned int counts[256];
	uint8_t pins;
	uint8_t bus;         /* the last selected bus */
	uint8_t chip_select; /* the last selected chip */
	size_t spiop_bytes_seen_max;
	size_t unread_bytes_max; /* the most bytes in the serial buffer, if `slow` */
	struct fake_peer_memory memory;

	int own_fd;
	pthread_t thread;
};

/* Initialises a SPI device that offers all that the client knows, and O_DELAY. */
void fake_peer_init(struct fake_peer *peer);
void fake_peer_start(struct fake_peer *peer);
void fake_peer_stop(struct fake_peer *peer);

void fake_peer_withhold(struct fake_peer *peer, uint8_t command);

/* Time limits that are long enough for a busy machine. */
static const struct serprog_options patient = {
	.quiet_ms = 20, .sync_ms_max = 20000, .silence_ms_max = 20000};

/* A fake peer, a serprog client on it, and the client's log. */
struct client {
	struct fake_peer peer;
	bool is_attached;
	struct captured_log captured;
	struct log log;
	struct programmer *programmer;
};

static inline void client_start(struct client *client)
{
	client->log = captured_log(&client->captured);
	fake_peer_init(&client->peer);
}

/* After this, the peer's counts may be read. */
static inline void client_detach(struct client *client)
{
	if (!client->is_attached)
		return;
	programmer_destroy(client->programmer);
	fake_peer_stop(&client->peer);
	client->is_attached = false;
}

static inline void client_restart(struct client *client)
{
	client_detach(client);
	memset(client, 0, sizeof(*client));
	client_start(client);
}

static inline int client_attach(
	struct client *client, const struct serprog_options *options, uint8_t bus)
{
	int error;

	fake_peer_start(&client->peer);
	client->is_attached = true;
	error = serprog_attach(client->peer.fd, "the peer", options, &system_clock, &client->log,
		&client->programmer);
	if (error != 0)
		assert_null(client->programmer);
	return error == 0 ? client->programmer->ops->select_bus(client->programmer, bus) : error;
}

#endif
