/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a programmer's link carries bytes: when those of a request are all there, when those of a
 * reply reach the client, and how much the firmware behind it takes at a time. Pure.
 *
 * A byte on a serial line is ten bits (8N1). Behind USB a reply takes its time, drawn for each, or
 * leaves with the next (micro)frame, counted from the zero of the clock. Requests are not held
 * back, as clients send them at once.
 */
#ifndef EMULATORS_LINK_LINK_MODEL_H
#define EMULATORS_LINK_LINK_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LINK_MODEL_LEN_MAX 0xFFFFFFu /* one write or read: lengths of serprog have 24 bits */
#define LINK_MODEL_ACK_BYTES_MIN 16  /* the bytes of a longer read for each ACK */
#define LINK_MODEL_TEXT_BYTES 640

/*
 * Deviations of firmwares from the protocol, or additions to it. All zeros: none. Numbers without a
 * unit are switches.
 */
struct device_quirks {
	uint32_t cs_late_us; /* chip select rises that long after the reply is on its way */
	uint32_t pause_us;   /* it looks at no request for that long after a transfer */
	uint32_t silent;     /* no answer to an opcode that it does not offer */
	uint32_t ack_first;  /* S_BUSTYPE and S_SPI_FREQ are acknowledged before their arguments */
	uint32_t ack_bytes;  /* a read of more has an ACK before each so many bytes */
	/* The limit of a write; further bytes are lost, and acknowledged */
	uint32_t real_write_bytes;
	uint32_t no_pin_state;
	uint32_t no_bustype;
	uint32_t spi_modes;     /* 17h and 18h are offered */
	uint32_t delay_at_once; /* O_DELAY is run when it comes, not by O_EXEC */
	uint32_t delay_silent;  /* O_DELAY has no answer */
	uint32_t delay_down_us; /* delays are cut to a multiple */
	uint32_t delay_up_us;   /* delays are raised to a multiple */
	uint32_t exec_acks; /* O_EXEC answers for what is in the buffer; that has no other answer */
};

/* All zeros: a link that takes no time, to a device with limits of its own. */
struct link_model {
	uint32_t baud;         /* 0: bytes take no time on the line */
	uint32_t usb_frame_us; /* 0: no frames */
	uint32_t reply_us_min; /* the additional time of a reply, least and most */
	uint32_t reply_us_max;
	/* The limits that the firmware reports and keeps; 0: the device's own. */
	uint32_t serial_buffer_bytes;
	uint32_t opbuf_bytes;
	uint32_t write_len_max;
	uint32_t read_len_max;
	bool lengths_untold; /* it takes any length, and has no query that would tell so */
	bool native_delay;   /* it waits by itself */
	uint8_t buses;       /* that the firmware knows, as Q_BUSTYPE tells them; 0: any */
	struct device_quirks quirks;
};

/* A firmware that people use, and where its figures are from. */
struct link_preset {
	const char *name;
	const char *about;
	struct link_model model;
};

extern const struct link_preset link_presets[];
extern const size_t link_preset_count;

/*
 * Reads `PRESET`, `KEY=N,...` or `PRESET,KEY=N,...`; later words win. `reply-us` may be `N-N`, the
 * least and the most. -EINVAL for a word that is neither, or a number out of its range; @model
 * stays as it is then.
 */
int link_model_parse(const char *text, struct link_model *model);

/* All that differs from zeros, as link_model_parse() reads it. @text holds LINK_MODEL_TEXT_BYTES.
 */
void link_model_format(const struct link_model *model, char *text);

/* Returns true if anything on this link takes time. */
bool link_model_takes_time(const struct link_model *model);

/* Returns the time of that many bytes in a row on the line. */
uint64_t link_model_line_ns(const struct link_model *model, uint64_t bytes);

/* When the last of @bytes is in the device, of which the first was sent at @sent_ns. */
uint64_t link_model_arrival_ns(const struct link_model *model, uint64_t sent_ns, uint64_t bytes);

/* Returns the additional time of reply number @nth, besides its line and its frame. */
uint64_t link_model_reply_ns(const struct link_model *model, uint64_t seed, uint64_t nth);

/* When the last of @bytes is at the client, of which the first was ready at @ready_ns. */
uint64_t link_model_delivery_ns(const struct link_model *model, uint64_t ready_ns, uint64_t bytes);

#endif
