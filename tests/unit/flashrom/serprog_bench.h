/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SERPROG_BENCH_H
#define SERPROG_BENCH_H

#include "../cases.h"
#include "captured_log.h"
#include "fake_peer.h"
#include "programmers.h"

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
