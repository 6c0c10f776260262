/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A model of a programmer's link: when the bytes of a request have all arrived, when those of a
 * reply reach the client, and how much the firmware takes at a time. Pure.
 *
 * A byte on a serial line is ten bits (8N1). Over USB, each reply takes an additional random time,
 * or arrives at the next boundary of a (micro)frame; the boundaries are at multiples of the frame's
 * length. Over USB, requests are not delayed, because clients send them at once.
 */
#ifndef EMULATORS_LINK_LINK_MODEL_H
#define EMULATORS_LINK_LINK_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LINK_MODEL_LEN_MAX 0xFFFFFFu /* one write or read: lengths of serprog have 24 bits */
#define LINK_MODEL_ACK_BYTES_MIN 16  /* the least value of ack_bytes */
#define LINK_MODEL_TEXT_BYTES 640

/*
 * Deviations of firmwares from the protocol, and additions to it. All zeros: none. Fields without a
 * unit are switches.
 */
struct device_quirks {
	uint32_t cs_late_us; /* chip select rises this long after the reply is sent */
	uint32_t pause_us;   /* the device reads no request for this long after a transfer */
	uint32_t silent;     /* the device does not answer an opcode that it does not offer */
	uint32_t ack_first;  /* S_BUSTYPE and S_SPI_FREQ are acknowledged before their arguments */
	uint32_t ack_bytes;  /* a longer read has an ACK before each piece of this size */
	/* The longest write; further bytes are acknowledged, but lost. */
	uint32_t real_write_bytes;
	uint32_t no_pin_state;
	uint32_t no_bustype;
	uint32_t spi_modes;     /* 17h and 18h are offered */
	uint32_t delay_at_once; /* O_DELAY runs when it comes, not by O_EXEC */
	uint32_t delay_silent;  /* O_DELAY has no answer */
	uint32_t delay_down_us; /* delays are cut to a multiple */
	uint32_t delay_up_us;   /* delays are raised to a multiple */
	uint32_t exec_acks; /* O_EXEC sends the ACKs of the buffered operations, which send none */
};

/* All zeros: a link that takes no time, and the device's own limits. */
struct link_model {
	uint32_t baud;         /* 0: bytes take no time on the line */
	uint32_t usb_frame_us; /* 0: no frames */
	uint32_t reply_us_min; /* the least and the most additional time of a reply */
	uint32_t reply_us_max;
	/* The limits that the firmware reports and enforces; 0: the device's own. */
	uint32_t serial_buffer_bytes;
	uint32_t opbuf_bytes;
	uint32_t write_len_max;
	uint32_t read_len_max;
	bool any_length;   /* it has no limit of lengths, and no query for one */
	bool native_delay; /* it runs delays (O_DELAY) itself */
	uint8_t buses;     /* the buses of the firmware, as in Q_BUSTYPE; 0: any */
	struct device_quirks quirks;
};

/* A named link: a firmware, or a set of limits, and the source of its figures. */
struct link_preset {
	const char *name;
	const char *about;
	struct link_model model;
};

extern const struct link_preset link_presets[];
extern const size_t link_preset_count;

/*
 * Parses `PRESET`, `KEY=N,...` or `PRESET,KEY=N,...`. A later value replaces an earlier one.
 * `reply-us` may be `N-N`, the least and the most. Returns 0, or -EINVAL for an unknown word, a
 * number out of range, or a text that does not fit into LINK_MODEL_TEXT_BYTES with its terminating
 * zero. After an error, @model is unchanged.
 */
int link_model_parse(const char *text, struct link_model *model);

/* Returns true if anything on this link takes time. */
bool link_model_takes_time(const struct link_model *model);

/* Returns how long that many bytes in a row take on the line. */
uint64_t link_model_line_ns(const struct link_model *model, uint64_t bytes);

/* Returns the additional time of reply number @nth, besides line and frame. */
uint64_t link_model_reply_ns(const struct link_model *model, uint64_t seed, uint64_t nth);

/* Returns when the last of @bytes is at the client, if the first is ready at @ready_ns. */
uint64_t link_model_delivery_ns(const struct link_model *model, uint64_t ready_ns, uint64_t bytes);

#endif
