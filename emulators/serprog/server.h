/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Serves hosts one after another: accept, answer until they leave, record.
 */
#ifndef EMULATORS_SERPROG_SERVER_H
#define EMULATORS_SERPROG_SERVER_H

#include "device.h"
#include "events.h"

struct server {
	struct device *device;
	struct clock *clock;
	struct events *events;
	int listener_fd;
	int signal_fd;      /* readable: stop */
	int barrier_out_fd; /* -1: no barrier */
	int barrier_in_fd;
	uint8_t *request_buffer; /* of serprog_request_bytes_max() for device_limits() */
	uint8_t *reply_buffer;   /* of device_reply_bytes_max() */
	uint64_t empty_ns;       /* no host could be there yet */
	uint64_t replied_ns; /* the last reply: no transfer begins before the one before ended */
};

/*
 * Serves @client_count hosts, 0: until stopped. 0 also when a signal ended it; -EPIPE: whoever
 * holds the other end of the barrier is gone; any other negative errno: no host can be accepted.
 */
int server_run(struct server *server, unsigned int client_count);

#endif
