/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of a CH341A. Only its front and the front's tests include this. */
#ifndef EMULATORS_PROGRAMMERS_CH341A_H
#define EMULATORS_PROGRAMMERS_CH341A_H

#include "front.h"

#define CH341A_PACKET_BYTES 32
#define CH341A_REPLIES_MAX 1024

/* A packet for the host, and the time from which it can be read. */
struct ch341a_reply {
	uint64_t ready_ns;
	size_t len;
	uint8_t bytes[CH341A_PACKET_BYTES];
};

struct ch341a {
	uint64_t free_ns; /* the end of all commands so far */
	uint8_t levels;   /* the levels of pins D0 to D5, where they are outputs */
	uint8_t outputs;
	size_t reply_first;
	size_t reply_count;
	struct ch341a_reply replies[CH341A_REPLIES_MAX];
};

#endif
