/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a programmer's link carries bytes: when those of a request are all there, when those of a
 * reply reach the client, and how much the firmware behind it takes at a time. Pure.
 *
 * A byte on a serial line is ten bits (8N1). Behind USB a reply leaves with the next (micro)frame,
 * counted from the zero of the clock; requests are not held back, as clients send them at once.
 */
#ifndef EMULATORS_LINK_LINK_MODEL_H
#define EMULATORS_LINK_LINK_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LINK_MODEL_LEN_MAX 0xFFFFFFu /* of one write or read: lengths of serprog have 24 bits */
#define LINK_MODEL_TEXT_BYTES 160

/* All zeros: a link that takes no time, to a device with limits of its own. */
struct link_model {
	uint32_t baud;         /* 0: bytes take no time on the line */
	uint32_t usb_frame_us; /* 0: no frames */
	/* What the firmware says of itself, and keeps to; 0: what the device has anyway. */
	uint32_t serial_buffer_bytes;
	uint32_t opbuf_bytes;
	uint32_t write_len_max;
	uint32_t read_len_max;
	bool lengths_untold; /* it takes any length, and has no query that would tell so */
	bool native_delay;   /* it waits by itself */
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
 * Reads `PRESET`, `KEY=N,...` or `PRESET,KEY=N,...`; later words win. -EINVAL for a word that is
 * neither, or a number out of its range; @model stays as it is then.
 */
int link_model_parse(const char *text, struct link_model *model);

/* All that differs from zeros, as link_model_parse() reads it. @text holds LINK_MODEL_TEXT_BYTES.
 */
void link_model_format(const struct link_model *model, char *text);

/* Whether anything on this link takes time. */
bool link_model_takes_time(const struct link_model *model);

/* How long that many bytes in a row take on the line. */
uint64_t link_model_line_ns(const struct link_model *model, uint64_t bytes);

/* When the last of @bytes is in the device, of which the first was sent at @sent_ns. */
uint64_t link_model_arrival_ns(const struct link_model *model, uint64_t sent_ns, uint64_t bytes);

/* When the last of @bytes is at the client, of which the first was ready at @ready_ns. */
uint64_t link_model_delivery_ns(const struct link_model *model, uint64_t ready_ns, uint64_t bytes);

#endif
