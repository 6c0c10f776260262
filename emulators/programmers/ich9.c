/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The SPI controller of an Intel ICH9, by software sequencing: a program names a command of its
 * menu, and the controller sends it. An atomic cycle is a prefix, the command, and reads of the
 * status register until the part is ready; all the time the controller says that it is busy.
 *
 * The machine booted from SPI, there is no descriptor, and nothing is locked.
 *
 * Source: Intel I/O Controller Hub 9 Family Datasheet, 316972-004, "Serial Peripheral Interface
 * Memory Mapped Configuration Registers" and "GCS: General Control and Status Register".
 */
#include "front.h"

#include <string.h>

#define SPI_AT 0x3800 /* in the registers of the chipset */
#define SPI_BYTES 0x200
#define GCS_AT 0x3410
#define GCS_BYTES 4
#define GCS_BOOT_FROM_SPI (UINT64_C(1) << 10)

#define HSFS_HIGH 0x05
#define HSFS_HIGH_NO_OVERRIDE 0x20 /* the strap that lifts a descriptor's rules is not set */
#define FADDR 0x08
#define FADDR_END 0x0C
#define FDATA 0x10
#define FDATA_END 0x50
#define DATA_BYTES_MAX (FDATA_END - FDATA)
#define SSFS 0x90
#define SSFC_LOW 0x91
#define SSFC_COUNT 0x92
#define SSFC_CLOCK 0x93
#define PREOP 0x94
#define OPTYPE 0x96
#define OPMENU 0x98
#define OPMENU_END 0xA0
#define BBAR 0xA0
#define BBAR_END 0xA4

#define STATUS_IN_PROGRESS 0x01
#define STATUS_DONE 0x04
#define STATUS_ERROR 0x08
#define STATUS_CLEARED 0x1C /* by writing ones */
#define LOW_GO 0x02
#define LOW_ATOMIC 0x04
#define LOW_SECOND_PREFIX 0x08
#define COUNT_MASK 0x3F
#define COUNT_HAS_DATA 0x40
#define CLOCK_MASK 0x07
#define CLOCK_33_MHZ 1

#define TYPE_WRITES 1
#define TYPE_HAS_ADDRESS 2
#define ADDRESS_BYTES 3

#define READ_STATUS 0x05
#define PART_BUSY 0x01
#define STATUS_COMMAND_BYTES 2

#define BYTE_20_MHZ_NS 400
#define BYTE_33_MHZ_NS 243

struct ich9 {
	uint8_t bytes[SPI_BYTES];
	bool in_progress;
	bool polls;      /* an atomic cycle has come to its end */
	uint64_t due_ns; /* when the cycle ends, or the next read of the status */
	uint64_t byte_ns;
};

_Static_assert(sizeof(struct ich9) <= BUS_REGISTERS_BYTES, "no room for the registers");

static struct ich9 *ich9_of(struct bus *bus)
{
	return (struct ich9 *)(void *)bus->registers;
}

static void finish(struct ich9 *ich9)
{
	ich9->in_progress = false;
	ich9->polls = false;
	ich9->bytes[SSFS] |= STATUS_DONE;
}

/* Returns when the transfer ends. */
static uint64_t send(struct bus *bus, struct chip_transfer *transfer, uint64_t start_ns)
{
	const struct ich9 *ich9 = ich9_of(bus);

	transfer->start_ns = start_ns;
	transfer->end_ns = start_ns + (transfer->command_len + transfer->reply_len) * ich9->byte_ns;
	bus_transfer(bus, transfer);
	return transfer->end_ns;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/*
 * Reads of a busy part are all the same, so the next one that is made is the one that a part which
 * gets ready by itself answers with "ready". A part that stays busy is asked once an access.
 */
static void poll_part(struct bus *bus, uint64_t now_ns)
{
	static const uint8_t command[] = {READ_STATUS};
	struct ich9 *ich9 = ich9_of(bus);
	uint8_t status;
	struct chip_transfer transfer = {
		.command = command,
		.command_len = sizeof(command),
		.reply = &status,
		.reply_len = sizeof(status),
	};
	const uint64_t poll_ns = STATUS_COMMAND_BYTES * ich9->byte_ns;
	const uint64_t start_ns = later(ich9->due_ns, bus->chip.busy_until_ns);

	if (start_ns + poll_ns > now_ns)
		return;
	ich9->due_ns = send(bus, &transfer, start_ns);
	if ((status & PART_BUSY) == 0)
		finish(ich9);
	else
		ich9->due_ns = now_ns;
}

/* Brings the registers up to date. */
static void catch_up(struct bus *bus, uint64_t now_ns)
{
	struct ich9 *ich9 = ich9_of(bus);

	if (ich9->polls)
		poll_part(bus, now_ns);
	else if (ich9->in_progress && now_ns >= ich9->due_ns)
		finish(ich9);
}

static uint64_t send_prefix(struct bus *bus, uint64_t start_ns)
{
	const struct ich9 *ich9 = ich9_of(bus);
	const bool is_second = (ich9->bytes[SSFC_LOW] & LOW_SECOND_PREFIX) != 0;
	struct chip_transfer transfer = {
		.command = &ich9->bytes[PREOP + (is_second ? 1 : 0)],
		.command_len = 1,
	};

	return send(bus, &transfer, start_ns);
}

/* Returns the number of bytes that go out for the command and its address. */
static size_t put_command(
	const struct ich9 *ich9, unsigned int choice, unsigned int type, uint8_t *out)
{
	size_t len = 0;

	out[len++] = ich9->bytes[OPMENU + choice];
	for (size_t i = ADDRESS_BYTES; (type & TYPE_HAS_ADDRESS) && i > 0; i--)
		out[len++] = ich9->bytes[FADDR + i - 1];
	return len;
}

static uint64_t send_primary(struct bus *bus, uint64_t start_ns)
{
	struct ich9 *ich9 = ich9_of(bus);
	const uint8_t *bytes = ich9->bytes;
	const unsigned int choice = bytes[SSFC_LOW] >> 4 & 7;
	const unsigned int types = bytes[OPTYPE] | (unsigned int)bytes[OPTYPE + 1] << 8;
	const unsigned int type = types >> 2 * choice & 3;
	const size_t count = (bytes[SSFC_COUNT] & COUNT_HAS_DATA)
				     ? (size_t)(bytes[SSFC_COUNT] & COUNT_MASK) + 1
				     : 0;
	uint8_t out[1 + ADDRESS_BYTES + DATA_BYTES_MAX];
	struct chip_transfer transfer = {.command = out};

	transfer.command_len = put_command(ich9, choice, type, out);
	if (type & TYPE_WRITES) {
		memcpy(out + transfer.command_len, &bytes[FDATA], count);
		transfer.command_len += count;
	} else {
		transfer.reply = &ich9->bytes[FDATA];
		transfer.reply_len = count;
	}
	return send(bus, &transfer, start_ns);
}

static void start_cycle(struct bus *bus, uint64_t now_ns)
{
	struct ich9 *ich9 = ich9_of(bus);
	const bool is_fast = (ich9->bytes[SSFC_CLOCK] & CLOCK_MASK) == CLOCK_33_MHZ;
	const bool is_atomic = (ich9->bytes[SSFC_LOW] & LOW_ATOMIC) != 0;
	uint64_t at_ns = now_ns;

	ich9->byte_ns = is_fast ? BYTE_33_MHZ_NS : BYTE_20_MHZ_NS;
	if (is_atomic)
		at_ns = send_prefix(bus, at_ns);
	ich9->due_ns = send_primary(bus, at_ns);
	ich9->in_progress = true;
	ich9->polls = is_atomic;
}

/* A cycle is made of these bytes, which must not change while it goes on. */
static bool is_of_cycle(uint64_t at)
{
	return (at >= FADDR && at < FADDR_END) || (at >= FDATA && at < FDATA_END) ||
	       (at > SSFS && at < OPMENU_END);
}

static uint8_t writable_bits(uint64_t at)
{
	if (at == FADDR_END - 1)
		return 0x01; /* bit 24 is for hardware sequencing */
	if (at == SSFC_LOW)
		return 0x7C; /* "go" reads as 0 */
	if (at == SSFC_CLOCK)
		return CLOCK_MASK;
	return is_of_cycle(at) || (at >= BBAR && at < BBAR_END) ? 0xFF : 0;
}

static void write_byte(struct ich9 *ich9, uint64_t at, uint8_t value)
{
	const uint8_t bits = writable_bits(at);

	if (at == SSFS)
		ich9->bytes[SSFS] &= (uint8_t)~(value & STATUS_CLEARED);
	else if (ich9->in_progress && is_of_cycle(at))
		ich9->bytes[SSFS] |= STATUS_ERROR;
	else
		ich9->bytes[at] = (uint8_t)((ich9->bytes[at] & ~bits) | (value & bits));
}

static void write_spi(struct bus *bus, const struct front_access *access, uint64_t value)
{
	bool goes = false;

	if (!bus)
		return;
	catch_up(bus, access->now_ns);
	for (unsigned int i = 0; i < access->size_bytes && access->offset + i < SPI_BYTES; i++) {
		const uint64_t at = access->offset + i;
		const uint8_t byte = (uint8_t)(value >> 8 * i);

		goes |= at == SSFC_LOW && (byte & LOW_GO) && !ich9_of(bus)->in_progress;
		write_byte(ich9_of(bus), at, byte);
	}
	if (goes)
		start_cycle(bus, access->now_ns);
}

static uint8_t read_byte(const struct ich9 *ich9, uint64_t at)
{
	if (at == HSFS_HIGH)
		return HSFS_HIGH_NO_OVERRIDE;
	if (at == SSFS && ich9->in_progress)
		return ich9->bytes[SSFS] | STATUS_IN_PROGRESS;
	return ich9->bytes[at];
}

static uint64_t read_spi(struct bus *bus, const struct front_access *access)
{
	uint64_t value = 0;

	if (!bus)
		return 0;
	catch_up(bus, access->now_ns);
	for (unsigned int i = 0; i < access->size_bytes && access->offset + i < SPI_BYTES; i++)
		value |= (uint64_t)read_byte(ich9_of(bus), access->offset + i) << 8 * i;
	return value;
}

static uint64_t read_straps(struct bus *bus, const struct front_access *access)
{
	(void)bus;
	return GCS_BOOT_FROM_SPI >> 8 * access->offset &
	       ((UINT64_C(1) << 8 * access->size_bytes) - 1);
}

static void write_straps(struct bus *bus, const struct front_access *access, uint64_t value)
{
	(void)bus;
	(void)access;
	(void)value;
}

static const struct front_window windows[] = {
	{
		.region = "lpc-rcrb-mmio",
		.offset = SPI_AT,
		.size_bytes = SPI_BYTES,
		.access_bytes_max = 4,
		.read = read_spi,
		.write = write_spi,
	},
	{
		.region = "lpc-rcrb-mmio",
		.offset = GCS_AT,
		.size_bytes = GCS_BYTES,
		.access_bytes_max = 4,
		.read = read_straps,
		.write = write_straps,
	},
};

const struct front ich9_front = {
	.name = "ich9",
	.windows = windows,
	.window_count = sizeof(windows) / sizeof(windows[0]),
};
