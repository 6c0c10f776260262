/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "link_model.h"

#include <errno.h>
#include <string.h>

#include "shared/noise.h"
#include "shared/number.h"
#include "shared/units.h"

#define BITS_PER_BYTE_ON_LINE 10
#define US_MAX 1000000
#define WORD_BYTES_MAX 40
#define REPLY_PLACE UINT64_C(0x7265706C79) /* makes these draws differ from others */

/* The bits of an answer to Q_BUSTYPE. */
#define BUS_PARALLEL 0x01
#define BUS_LPC 0x02
#define BUS_FWH 0x04
#define BUS_SPI 0x08

/*
 * The minimum is the time of one packet: 64 bytes take 1/19 of a frame at full speed, and 512 bytes
 * 1/13 of a microframe at high speed (USB 2.0, tables 5-9 and 5-10). At full speed, the maximum is
 * chosen so that the mean is the time of a transfer that a user measured: 0.29 to 0.34 ms
 * (opensensor/pico-serprog). With an FTDI the maximum is its latency timer, which clients set to
 * 1 ms; at high speed it is a microframe.
 */
#define FULL_SPEED .reply_us_min = 53, .reply_us_max = 570
#define FTDI .reply_us_min = 53, .reply_us_max = 1000
#define HIGH_SPEED .reply_us_min = 10, .reply_us_max = 125

/*
 * frser-duino: its uart.h has a buffer of 1024 bytes. frser.c of libfrser reports 4 bytes fewer;
 * the longest SPI write is another 7 bytes shorter. The longest read is what the line carries in
 * two seconds: baud / 5 bytes, in KiB. A build for SPI reports an operation buffer of 12 bytes,
 * because it only sums up delays.
 */
#define FRSER_DUINO(baud_, read_kib)                                                               \
	.baud = (baud_), .serial_buffer_bytes = 1020, .opbuf_bytes = 12, .write_len_max = 1013,    \
	.read_len_max = (read_kib) * 1024, .native_delay = true, .buses = BUS_SPI

/*
 * libfrser with a memory bus: the operation buffer is the free RAM, less 320 bytes of stack and the
 * buffer of uart.h. The longest write is 7 bytes shorter.
 */
#define FRSER_MEMORY(baud_, serial, opbuf, read_kib, buses_)                                       \
	.baud = (baud_), .serial_buffer_bytes = (serial), .opbuf_bytes = (opbuf),                  \
	.write_len_max = (opbuf) - 7, .read_len_max = (read_kib) * 1024, .native_delay = true,     \
	.buses = (buses_)

/*
 * These answer Q_SERBUF with 65535, which means no limit, and stream transfers of any length. The
 * ACK is in the USB buffer before chip select rises; no source says how long before.
 */
#define USB_STREAMER                                                                               \
	FULL_SPEED, .serial_buffer_bytes = 65535, .any_length = true, .buses = BUS_SPI,            \
		.quirks.cs_late_us = 1

const struct link_preset link_presets[] = {
	{"stm32-vserprog", "vserprog.c and usbcdc.c: full speed USB, no line behind it",
		{USB_STREAMER, .quirks.silent = 1}},
	{"pico-serprog", "main.c of the RP2040 firmware: full speed USB, no line behind it",
		{USB_STREAMER, .quirks.real_write_bytes = 4096}},
	{"serprog-stm32-gd32", "src/USER/main.c: as stm32-vserprog, without S_PIN_STATE",
		{USB_STREAMER, .quirks.silent = 1, .quirks.no_pin_state = 1}},
	{"serprog_pico", "serprog.c: full speed USB, settings acknowledged too early",
		{FULL_SPEED, .write_len_max = 256, .read_len_max = 65536, .buses = BUS_SPI,
			.quirks.silent = 1, .quirks.ack_first = 1, .quirks.no_pin_state = 1}},
	{"pico-serprog-opensensor", "main.c of the fork: reads of 256 bytes come in pieces",
		{FULL_SPEED, .write_len_max = 256, .read_len_max = 256, .buses = BUS_SPI,
			.quirks.ack_bytes = 128, .quirks.no_pin_state = 1}},
	{"serprog-due", "serprog.cpp: full speed USB, without S_PIN_STATE",
		{FULL_SPEED, .serial_buffer_bytes = 256, .any_length = true, .buses = BUS_SPI,
			.quirks.no_pin_state = 1}},
	{"stm32-vserprog-lpc", "vserprog.c: delays in whole ms, answers when they are run",
		{FULL_SPEED, .opbuf_bytes = 200, .read_len_max = 60, .native_delay = true,
			.buses = BUS_LPC, .quirks.silent = 1, .quirks.delay_up_us = 1000,
			.quirks.exec_acks = 1}},
	{"frser-duino", "target u2: 115200 baud through the board's own USB chip",
		{FULL_SPEED, FRSER_DUINO(115200, 23)}},
	{"frser-duino-ftdi", "target ftdi: 2000000 baud through an FTDI",
		{FTDI, FRSER_DUINO(2000000, 391)}},
	{"frser-m328lpcspi", "LPC and FWH shield of an Arduino: 115200 baud, 2 KiB of RAM",
		{FULL_SPEED, FRSER_MEMORY(115200, 508, 1152, 23, BUS_LPC | BUS_FWH | BUS_SPI)}},
	{"frser-atmega644", "parallel: 1500000 baud through an FTDI, 4 KiB of RAM",
		{FTDI, FRSER_MEMORY(1500000, 1020, 2752, 293, BUS_PARALLEL | BUS_SPI)}},
	{"unasked",
		"what flashrom assumes if a device reports no limits: buffers of 16 and 300 bytes",
		{.baud = 115200, .serial_buffer_bytes = 16, .opbuf_bytes = 300}},
	{"usb-high-speed", "no firmware: USB packets of a microframe, and the device's own limits",
		{HIGH_SPEED}},
};
const size_t link_preset_count = sizeof(link_presets) / sizeof(link_presets[0]);

struct key {
	const char *name;
	size_t offset; /* the offset of a uint32_t in struct link_model */
	uint32_t max;
	uint32_t min;
	bool is_range; /* the field is the minimum, the next field the maximum */
};

#define KEY(name_, field, max_)                                                                    \
	.name = (name_), .offset = offsetof(struct link_model, field), .max = (max_)

static const struct key keys[] = {
	{KEY("baud", baud, 100000000)},
	{KEY("usb-frame-us", usb_frame_us, US_MAX)},
	{KEY("reply-us", reply_us_min, US_MAX), .is_range = true},
	{KEY("serial-buffer", serial_buffer_bytes, 65535)},
	{KEY("opbuf", opbuf_bytes, 4096)},
	{KEY("write-max", write_len_max, LINK_MODEL_LEN_MAX)},
	{KEY("read-max", read_len_max, LINK_MODEL_LEN_MAX)},
	{KEY("cs-late-us", quirks.cs_late_us, US_MAX)},
	{KEY("pause-us", quirks.pause_us, US_MAX)},
	{KEY("silent", quirks.silent, 1)},
	{KEY("ack-first", quirks.ack_first, 1)},
	{KEY("ack-bytes", quirks.ack_bytes, LINK_MODEL_LEN_MAX), .min = LINK_MODEL_ACK_BYTES_MIN},
	{KEY("real-write", quirks.real_write_bytes, LINK_MODEL_LEN_MAX)},
	{KEY("no-pin-state", quirks.no_pin_state, 1)},
	{KEY("no-bustype", quirks.no_bustype, 1)},
	{KEY("spi-modes", quirks.spi_modes, 1)},
	{KEY("delay-at-once", quirks.delay_at_once, 1)},
	{KEY("delay-silent", quirks.delay_silent, 1)},
	{KEY("delay-down-us", quirks.delay_down_us, US_MAX)},
	{KEY("delay-up-us", quirks.delay_up_us, US_MAX)},
	{KEY("exec-acks", quirks.exec_acks, 1)},
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

/* Parses N, or N-N if the key is a range. */
static int set_value(const struct key *key, const char *text, uint32_t *field)
{
	const char *end;
	uint64_t first;
	uint64_t last;

	if (!number_begins(text, 10, key->max, &end, &first) || first < key->min)
		return -EINVAL;
	last = first;
	if (key->is_range && *end == '-' && !number_parse(end + 1, 10, first, key->max, &last))
		return -EINVAL;
	if (*end != '\0' && !(key->is_range && *end == '-'))
		return -EINVAL;
	field[0] = (uint32_t)first;
	if (key->is_range)
		field[1] = (uint32_t)last;
	return 0;
}

static int set_key(const char *word, const char *equals, struct link_model *model)
{
	size_t len = (size_t)(equals - word);

	for (size_t i = 0; i < KEY_COUNT; i++) {
		if (strlen(keys[i].name) == len && strncmp(word, keys[i].name, len) == 0)
			return set_value(&keys[i], equals + 1, field_of(model, &keys[i]));
	}
	return -EINVAL;
}

static int parse_word(const char *word, bool first, struct link_model *model)
{
	const char *equals = strchr(word, '=');

	if (equals)
		return set_key(word, equals, model);
	/* A later preset would undo the keys before it. */
	return first ? set_preset(word, model) : -EINVAL;
}

int link_model_parse(const char *text, struct link_model *model)
{
	struct link_model parsed = {0};
	bool first = true;

	if (strlen(text) >= LINK_MODEL_TEXT_BYTES)
		return -EINVAL;
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

bool link_model_takes_time(const struct link_model *model)
{
	return model->baud > 0 || model->usb_frame_us > 0 || model->reply_us_max > 0 ||
	       model->quirks.cs_late_us > 0 || model->quirks.pause_us > 0;
}

/* Rounds up, so that no byte is early. */
uint64_t link_model_line_ns(const struct link_model *model, uint64_t bytes)
{
	uint64_t bits = bytes * BITS_PER_BYTE_ON_LINE;

	if (model->baud == 0)
		return 0;
	return (bits * NS_PER_S + model->baud - 1) / model->baud;
}

/* The draw of a reply does not depend on other replies. */
uint64_t link_model_reply_ns(const struct link_model *model, uint64_t seed, uint64_t nth)
{
	uint64_t room = model->reply_us_max - model->reply_us_min;
	uint64_t least_ns = model->reply_us_min * NS_PER_US;

	if (room == 0)
		return least_ns;
	return least_ns + noise_bits(seed, REPLY_PLACE, nth) % (room * NS_PER_US + 1);
}

uint64_t link_model_delivery_ns(const struct link_model *model, uint64_t ready_ns, uint64_t bytes)
{
	uint64_t at_ns = ready_ns + link_model_line_ns(model, bytes);
	uint64_t frame_ns = model->usb_frame_us * NS_PER_US;

	return frame_ns == 0 ? at_ns : (at_ns + frame_ns - 1) / frame_ns * frame_ns;
}
