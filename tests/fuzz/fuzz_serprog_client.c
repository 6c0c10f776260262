/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fuzzes our serprog client, and the search for a chip, with a device that sends any answer.
 *
 * The first byte of an input chooses options and actions; the device sends the other bytes. A stub
 * replaces the link, because a real one would wait in the kernel.
 */
#include <errno.h>

#include "chip_checks.h"
#include "flash.h"
#include "fakes.h"
#include "programmers.h"
#include "serprog_link.h"

#define TRANSFER_BYTES 64

/* `now_ns` must be first: the device is also the context of the client's clock. */
struct device {
	uint64_t now_ns;
	struct fuzz_input sends;
	const struct fuzz_input repeats; /* sent repeatedly after `sends`; if empty, it hangs up */
	bool acknowledges;               /* true if each answer begins with the expected byte */
	uint8_t received;
};

static struct device *device_of(const struct serprog_link *link)
{
	return link->clock->context;
}

/* Accepts any bytes, and never fails. */
int serprog_link_send(const struct serprog_link *link, const uint8_t *data, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		device_of(link)->received ^= data[i];
	return 0;
}

int serprog_link_receive(
	const struct serprog_link *link, uint8_t *data, size_t bytes, uint32_t silence_ms_max)
{
	struct device *device = device_of(link);

	FUZZ_CHECK(silence_ms_max > 0);
	while (bytes > 0) {
		size_t got = bytes;
		const uint8_t *sent = fuzz_bytes(&device->sends, &got);

		if (got == 0 && device->repeats.left == 0)
			return -ECONNRESET;
		if (got == 0)
			device->sends = device->repeats;
		else
			memcpy(data, sent, got);
		data += got;
		bytes -= got;
	}
	return 0;
}

int serprog_link_receive_after(const struct serprog_link *link, uint8_t first, struct iovec *parts,
	int count, uint32_t silence_ms_max)
{
	uint8_t *answer = parts[0].iov_base;

	for (int i = 0; i < count; i++) {
		int error = serprog_link_receive(
			link, parts[i].iov_base, parts[i].iov_len, silence_ms_max);

		if (error != 0)
			return error;
		if (i == 0 && device_of(link)->acknowledges)
			*answer = first;
		if (*answer != first)
			return -EBADMSG;
	}
	return 0;
}

/* Takes its result from the input, and drops no bytes, so that the client reads them all. */
int serprog_link_drain(const struct serprog_link *link, uint32_t quiet_ms, uint32_t ms_max)
{
	(void)quiet_ms;
	(void)ms_max;
	switch (fuzz_u8(&device_of(link)->sends)) {
	case 0xfe:
		return -EBUSY;
	case 0xff:
		return -ECONNRESET;
	default:
		return 0;
	}
}

static void use_spi(struct programmer *programmer, uint8_t choice)
{
	uint8_t tx[TRANSFER_BYTES] = {0x9f};
	uint8_t rx[TRANSFER_BYTES];
	size_t tx_bytes = 1 + choice % TRANSFER_BYTES;

	FUZZ_CHECK(programmer->write_bytes_max > 0 && programmer->read_bytes_max > 0);
	if (tx_bytes > programmer->write_bytes_max)
		tx_bytes = programmer->write_bytes_max;
	(void)programmer->ops->spi_command(programmer, tx, tx_bytes, rx,
		programmer->read_bytes_max < sizeof(rx) ? programmer->read_bytes_max : sizeof(rx));
	(void)programmer->ops->spi_command(programmer, tx, tx_bytes, rx, 0);
}

static void use_memory(struct programmer *programmer, uint8_t choice)
{
	uint8_t data[TRANSFER_BYTES];
	size_t bytes_max = programmer->read_bytes_max;

	FUZZ_CHECK(bytes_max > 0);
	for (uint32_t i = 0; i < choice; i++) {
		if (programmer->ops->write_byte(
			    programmer, 0xff0000 + i * (1 + choice % 3), (uint8_t)i) != 0)
			break;
	}
	(void)programmer->ops->read_bytes(
		programmer, 0xffff00, data, bytes_max < sizeof(data) ? bytes_max : sizeof(data));
	(void)programmer->ops->flush(programmer);
}

static void use_buses(struct programmer *programmer, uint8_t choice)
{
	for (uint8_t bus = 1; bus != 0 && bus <= BUS_SPI; bus = (uint8_t)(bus << 1)) {
		if (!(programmer->buses & bus) || programmer->ops->select_bus(programmer, bus) != 0)
			continue;
		if (bus == BUS_SPI)
			use_spi(programmer, choice);
		else
			use_memory(programmer, choice);
	}
}

static void search(struct programmer *programmer, const struct clock *clock, const struct log *log)
{
	const struct range range = {0, TRANSFER_BYTES};
	struct flash flash;
	uint8_t *image;

	flash_init(&flash, programmer, clock, log);
	if (flash_probe(&flash, chip_lists, NULL, false) != 0)
		return;
	check_described_chip(flash.chip);
	image = malloc(flash.chip->size_bytes);
	FUZZ_CHECK(image != NULL);
	if (flash_open(&flash) == 0)
		(void)flash_read(&flash, (struct selection){&range, 1}, image);
	(void)flash_close(&flash);
	free(image);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = {.data = data, .left = size};
	const uint8_t choice = fuzz_u8(&input);
	struct device device = {
		.sends = input,
		.repeats = choice & 8 ? input : (struct fuzz_input){0},
		.acknowledges = choice & 16,
	};
	const struct clock clock = fake_clock(&device);
	const struct log log = fake_log();
	const struct serprog_options options = {
		.spi_hz = choice & 1 ? 1000000 : 0,
		.has_chip_select = choice & 2,
		.quiet_ms = 1,
		.sync_ms_max = 100,
		.silence_ms_max = 100,
	};
	struct programmer *programmer;

	/* There is no descriptor to close. */
	if (serprog_attach(-1, "fuzz", &options, &clock, &log, &programmer) != 0)
		return 0;
	FUZZ_CHECK(programmer->buses != 0);
	if (choice & 4)
		search(programmer, &clock, &log);
	else
		use_buses(programmer, choice);
	programmer_destroy(programmer);
	return 0;
}
