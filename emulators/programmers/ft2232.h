/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of an FT2232H. Only its front and the front's tests include this. */
#ifndef EMULATORS_PROGRAMMERS_FT2232_H
#define EMULATORS_PROGRAMMERS_FT2232_H

#include "front.h"

#define FT2232_PACKET_BYTES 512
#define FT2232_REPLIES_MAX 4096 /* the size of the chip's buffer for the host */
#define FT2232_INPUT_BYTES (64 << 10)
#define FT2232_HEAD_BYTES 3

/* A byte for the host, and the time from which it can be read. */
struct ft2232_reply {
	uint64_t ready_ns;
	uint8_t value;
};

struct ft2232 {
	uint64_t free_ns;    /* the end of all commands so far */
	uint64_t sent_ns;    /* the moment of the last packet for the host */
	uint64_t latency_ns; /* a packet that is not full waits that long after the last one */
	uint64_t flush_ns;   /* when SEND_NOW requested the packet; 0: no request */
	bool is_on;          /* the command processor takes what the host sends */
	bool is_fast;        /* its clock is not divided by 5 */
	bool loops_back;
	uint16_t divisor;
	uint8_t levels; /* the levels of pins ADBUS0 to ADBUS7, where they are outputs */
	uint8_t outputs;
	uint8_t head[FT2232_HEAD_BYTES]; /* the present command */
	size_t head_len;
	uint32_t clock_bytes; /* the bytes that the present command still clocks */
	size_t input_at;
	size_t input_len;
	uint8_t input[FT2232_INPUT_BYTES];
	size_t reply_first;
	size_t reply_count;
	struct ft2232_reply replies[FT2232_REPLIES_MAX];
};

#endif
