/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "link_model.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "text/number.h"

#define NS_PER_S UINT64_C(1000000000)
#define NS_PER_US UINT64_C(1000)
#define BITS_PER_BYTE_ON_LINE 10
#define FULL_SPEED_FRAME_US 1000
#define HIGH_SPEED_FRAME_US 125
#define WORD_BYTES_MAX 40

/*
 * frser-duino: its uart.h keeps 1024 bytes, of which libfrser's frser.c tells 4 fewer; an SPI write
 * is 7 fewer still, a read is what two seconds carry (baud / 5 in KiB), and the operation buffer of
 * a build for SPI is said to have 12 bytes, since it holds sums of delays alone.
 */
#define FRSER_DUINO(baud_, read_kib)                                                               \
	{                                                                                          \
		.baud = (baud_),                                                                   \
		.usb_frame_us = FULL_SPEED_FRAME_US,                                               \
		.serial_buffer_bytes = 1020,                                                       \
		.opbuf_bytes = 12,                                                                 \
		.write_len_max = 1013,                                                             \
		.read_len_max = (read_kib) * 1024,                                                 \
		.native_delay = true,                                                              \
	}

/* Both answer Q_SERBUF with 65535 to say "no end", and stream transfers of any length. */
#define USB_STREAMER                                                                               \
	{                                                                                          \
		.usb_frame_us = FULL_SPEED_FRAME_US,                                               \
		.serial_buffer_bytes = 65535,                                                      \
		.lengths_untold = true,                                                            \
	}

const struct link_preset link_presets[] = {
	{"stm32-vserprog", "vserprog.c and usbcdc.c: full speed USB, no line behind it",
		USB_STREAMER},
	{"pico-serprog", "main.c of the RP2040 firmware: full speed USB, no line behind it",
		USB_STREAMER},
	{"frser-duino", "target u2: 115200 baud through the board's own USB chip",
		FRSER_DUINO(115200, 23)},
	{"frser-duino-ftdi", "target ftdi: 2000000 baud through an FTDI",
		FRSER_DUINO(2000000, 391)},
	{"unasked",
		"what flashrom takes of a device that does not tell: buffers of 16 and 300 bytes",
		{.baud = 115200, .serial_buffer_bytes = 16, .opbuf_bytes = 300}},
	{"usb-high-speed", "no firmware: microframes, and limits of the device",
		{.usb_frame_us = HIGH_SPEED_FRAME_US}},
};
const size_t link_preset_count = sizeof(link_presets) / sizeof(link_presets[0]);

struct key {
	const char *name;
	size_t offset; /* of a uint32_t in struct link_model */
	uint32_t max;
};

static const struct key keys[] = {
	{"baud", offsetof(struct link_model, baud), 100000000},
	{"usb-frame-us", offsetof(struct link_model, usb_frame_us), 1000000},
	{"serial-buffer", offsetof(struct link_model, serial_buffer_bytes), 65535},
	{"opbuf", offsetof(struct link_model, opbuf_bytes), 4096},
	{"write-max", offsetof(struct link_model, write_len_max), LINK_MODEL_LEN_MAX},
	{"read-max", offsetof(struct link_model, read_len_max), LINK_MODEL_LEN_MAX},
};

#define KEY_COUNT (sizeof(keys) / sizeof(keys[0]))

static uint32_t *field_of(struct link_model *model, const struct key *key)
{
	return (uint32_t *)((char *)model + key->offset);
}

static int set_preset(const char *name, struct link_model *model)
{
	for (size_t i = 0; i < link_preset_count; i++) {
		if (strcmp(name, link_presets[i].name) == 0) {
			*model = link_presets[i].model;
			return 0;
		}
	}
	return -EINVAL;
}

static int set_key(const char *word, const char *equals, struct link_model *model)
{
	size_t len = (size_t)(equals - word);
	uint64_t value;

	for (size_t i = 0; i < KEY_COUNT; i++) {
		if (strlen(keys[i].name) != len || strncmp(word, keys[i].name, len) != 0)
			continue;
		if (!number_parse(equals + 1, 10, 0, keys[i].max, &value))
			return -EINVAL;
		*field_of(model, &keys[i]) = (uint32_t)value;
		return 0;
	}
	return -EINVAL;
}

static int parse_word(const char *word, bool first, struct link_model *model)
{
	const char *equals = strchr(word, '=');

	if (equals)
		return set_key(word, equals, model);
	/* A preset further on would undo the keys before it. */
	return first ? set_preset(word, model) : -EINVAL;
}

int link_model_parse(const char *text, struct link_model *model)
{
	struct link_model parsed = {0};
	bool first = true;

	for (;;) {
		size_t len = strcspn(text, ",");
		char word[WORD_BYTES_MAX];

		if (len >= sizeof(word))
			return -EINVAL;
		memcpy(word, text, len);
		word[len] = '\0';
		if (parse_word(word, first, &parsed) < 0)
			return -EINVAL;
		if (text[len] == '\0')
			break;
		text += len + 1;
		first = false;
	}
	*model = parsed;
	return 0;
}

void link_model_format(const struct link_model *model, char *text)
{
	struct link_model copy = *model;
	size_t len = 0;

	text[0] = '\0';
	for (size_t i = 0; i < KEY_COUNT; i++) {
		uint32_t value = *field_of(&copy, &keys[i]);

		if (value > 0)
			len += (size_t)snprintf(text + len, LINK_MODEL_TEXT_BYTES - len, "%s%s=%u",
				len > 0 ? "," : "", keys[i].name, value);
	}
}

bool link_model_takes_time(const struct link_model *model)
{
	return model->baud > 0 || model->usb_frame_us > 0;
}

/* Rounded up: no byte is early. */
uint64_t link_model_line_ns(const struct link_model *model, uint64_t bytes)
{
	uint64_t bits = bytes * BITS_PER_BYTE_ON_LINE;

	if (model->baud == 0)
		return 0;
	return (bits * NS_PER_S + model->baud - 1) / model->baud;
}

uint64_t link_model_arrival_ns(const struct link_model *model, uint64_t sent_ns, uint64_t bytes)
{
	return sent_ns + link_model_line_ns(model, bytes);
}

static uint64_t next_frame_ns(const struct link_model *model, uint64_t at_ns)
{
	uint64_t frame_ns = model->usb_frame_us * NS_PER_US;

	return frame_ns == 0 ? at_ns : (at_ns + frame_ns - 1) / frame_ns * frame_ns;
}

uint64_t link_model_delivery_ns(const struct link_model *model, uint64_t ready_ns, uint64_t bytes)
{
	return next_frame_ns(model, ready_ns + link_model_line_ns(model, bytes));
}
