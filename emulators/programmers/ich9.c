/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The SPI controller of an Intel ICH9. In software sequencing a program chooses a command of a
 * menu, and the controller sends it. An atomic cycle is a prefix, the command, and reads of the
 * status register until the part is ready; the controller shows that it is busy for all of that
 * time. For hardware sequencing see ich9_hardware.c.
 *
 * The machine booted from SPI, and nothing is locked.
 *
 * Source: Intel I/O Controller Hub 9 Family Datasheet, 316972-004, "Serial Peripheral Interface
 * Memory Mapped Configuration Registers" and "GCS: General Control and Status Register".
 */
#include "front.h"
#include "ich9.h"

#include <string.h>

#define SPI_AT 0x3800 /* in the registers of the chipset */
#define SPI_BYTES 0x200
#define GCS_AT 0x3410
#define GCS_BYTES 4
#define GCS_BOOT_FROM_SPI (UINT64_C(1) << 10)

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

#define HSFS_IN_PROGRESS 0x20
#define HSFS_DONE 0x01
#define HSFS_ERROR 0x02
#define HSFS_CLEARED 0x07 /* by writing ones */
#define HSFC_GO 0x01

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
	bool is_hardware; /* the current or the last cycle is of hardware sequencing */
	bool polls;       /* the cycle ends when the part is ready */
	/* The end of the cycle; while it polls, when the next status read may begin. */
	uint64_t due_ns;
	uint64_t byte_ns;
};

BUS_REGISTERS(ich9)

static void finish(struct ich9 *ich9)
{
	ich9->in_progress = false;
	ich9->polls = false;
	if (ich9->is_hardware)
		ich9->bytes[ICH9_HSFS] |= HSFS_DONE;
	else
		ich9->bytes[SSFS] |= STATUS_DONE;
}

static void fail(struct ich9 *ich9)
{
	if (ich9->is_hardware)
		ich9->bytes[ICH9_HSFS] |= HSFS_ERROR;
	else
		ich9->bytes[SSFS] |= STATUS_ERROR;
}

/* The address register selects one of two parts, even for commands without an address. */
static uint32_t address_of(const struct ich9 *ich9)
{
	uint32_t address = 0;

	for (size_t i = FADDR_END; i > FADDR; i--)
		address = address << 8 | ich9->bytes[i - 1];
	return address;
}

/* Makes the transfer at @start_ns. Returns its end in ns. */
static uint64_t send(struct bus *bus, struct chip_transfer *transfer, uint64_t start_ns)
{
	const struct ich9 *ich9 = ich9_of(bus);

	transfer->start_ns = start_ns;
	transfer->end_ns = start_ns + (transfer->command_len + transfer->reply_len) * ich9->byte_ns;
	bus_transfer(bus, transfer);
	return transfer->end_ns;
}

/*
 * Sends only the status read that finds the part ready, because all earlier ones return the same.
 * If the part is still busy after its work, sends one status read for each access to the registers.
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
	const uint64_t start_ns = front_later(ich9->due_ns, bus->chip.busy_until_ns);

	if (start_ns + poll_ns > now_ns)
		return;
	ich9->due_ns = send(bus, &transfer, start_ns);
	if ((status & PART_BUSY) == 0)
		finish(ich9);
	else
		ich9->due_ns = now_ns;
}

/* Brings the registers up to @now_ns. */
static void update_registers(struct bus *bus, uint64_t now_ns)
{
	struct ich9 *ich9 = ich9_of(bus);

	if (ich9->polls)
		poll_part(bus, now_ns);
	else if (ich9->in_progress && now_ns >= ich9->due_ns)
		finish(ich9);
}

static uint64_t send_prefix(struct bus *bus, uint8_t prefix, uint64_t start_ns)
{
	struct chip_transfer transfer = {.command = &prefix, .command_len = 1};

	return send(bus, &transfer, start_ns);
}

/* Puts the command and its address into @out. Returns their length. */
static size_t put_command(const struct ich9 *ich9, const struct ich9_cycle *cycle, uint8_t *out)
{
	size_t len = 0;

	out[len++] = cycle->opcode;
	for (size_t i = ADDRESS_BYTES; cycle->has_address && i > 0; i--)
		out[len++] = ich9->bytes[FADDR + i - 1];
	return len;
}

static uint64_t send_primary(struct bus *bus, const struct ich9_cycle *cycle, uint64_t start_ns)
{
	struct ich9 *ich9 = ich9_of(bus);
	uint8_t out[1 + ADDRESS_BYTES + DATA_BYTES_MAX];
	struct chip_transfer transfer = {.command = out};

	transfer.command_len = put_command(ich9, cycle, out);
	if (cycle->writes) {
		memcpy(out + transfer.command_len, &ich9->bytes[FDATA], cycle->data_bytes);
		transfer.command_len += cycle->data_bytes;
	} else {
		transfer.reply = &ich9->bytes[FDATA];
		transfer.reply_len = cycle->data_bytes;
	}
	return send(bus, &transfer, start_ns);
}

static void start_cycle(struct bus *bus, const struct ich9_cycle *cycle, uint64_t now_ns)
{
	struct ich9 *ich9 = ich9_of(bus);
	uint64_t at_ns = now_ns;

	chip_select_die(&bus->chip, address_of(ich9));
	if (cycle->has_prefix)
		at_ns = send_prefix(bus, cycle->prefix, at_ns);
	ich9->due_ns = send_primary(bus, cycle, at_ns);
	ich9->in_progress = true;
	ich9->polls = cycle->polls;
}

static void start_software(struct bus *bus, uint64_t now_ns)
{
	struct ich9 *ich9 = ich9_of(bus);
	const uint8_t *bytes = ich9->bytes;
	const unsigned int choice = bytes[SSFC_LOW] >> 4 & 7;
	const unsigned int types = bytes[OPTYPE] | (unsigned int)bytes[OPTYPE + 1] << 8;
	const unsigned int type = types >> 2 * choice & 3;
	const bool is_atomic = (bytes[SSFC_LOW] & LOW_ATOMIC) != 0;
	const bool is_fast = (bytes[SSFC_CLOCK] & CLOCK_MASK) == CLOCK_33_MHZ;
	struct ich9_cycle cycle = {
		.has_prefix = is_atomic,
		.prefix = bytes[PREOP + (bytes[SSFC_LOW] & LOW_SECOND_PREFIX ? 1 : 0)],
		.opcode = bytes[OPMENU + choice],
		.has_address = (type & TYPE_HAS_ADDRESS) != 0,
		.writes = (type & TYPE_WRITES) != 0,
		.polls = is_atomic,
	};

	if (bytes[SSFC_COUNT] & COUNT_HAS_DATA)
		cycle.data_bytes = (size_t)(bytes[SSFC_COUNT] & COUNT_MASK) + 1;
	ich9->byte_ns = is_fast ? BYTE_33_MHZ_NS : BYTE_20_MHZ_NS;
	ich9->is_hardware = false;
	start_cycle(bus, &cycle, now_ns);
}

static void start_hardware(struct bus *bus, uint64_t now_ns)
{
	struct ich9 *ich9 = ich9_of(bus);
	struct ich9_cycle cycle;

	ich9->byte_ns = BYTE_20_MHZ_NS; /* as the descriptor says */
	ich9->is_hardware = true;
	if (ich9_hardware_cycle(bus->chip.part, ich9->bytes, &cycle))
		start_cycle(bus, &cycle, now_ns);
	else
		fail(ich9);
}

/* Returns true for the bytes that define a cycle: they must not change during the cycle. */
static bool is_of_cycle(uint64_t at)
{
	return (at >= ICH9_HSFC_LOW && at < FADDR_END) || (at >= FDATA && at < FDATA_END) ||
	       (at > SSFS && at < OPMENU_END);
}

static uint8_t writable_bits(uint64_t at)
{
	if (at == FADDR_END - 1)
		return 0x01; /* bit 24 is for hardware sequencing */
	if (at == ICH9_HSFC_LOW)
		return 0x06; /* "go" reads as 0 */
	if (at == ICH9_HSFC_HIGH)
		return 0xBF;
	if (at == SSFC_LOW)
		return 0x7C; /* "go" reads as 0 */
	if (at == SSFC_CLOCK)
		return CLOCK_MASK;
	if ((at >= BBAR && at < BBAR_END) || (at >= ICH9_FDOC && at < ICH9_FDOC_END))
		return 0xFF;
	return is_of_cycle(at) ? 0xFF : 0;
}

static void write_byte(struct ich9 *ich9, uint64_t at, uint8_t value)
{
	const uint8_t bits = writable_bits(at);

	if (at == SSFS)
		ich9->bytes[SSFS] &= (uint8_t)~(value & STATUS_CLEARED);
	else if (at == ICH9_HSFS)
		ich9->bytes[ICH9_HSFS] &= (uint8_t)~(value & HSFS_CLEARED);
	else if (ich9->in_progress && is_of_cycle(at))
		fail(ich9);
	else
		ich9->bytes[at] = (uint8_t)((ich9->bytes[at] & ~bits) | (value & bits));
}

typedef void starter(struct bus *bus, uint64_t now_ns);

/* Returns the function that starts the cycle that this byte requests, or NULL. */
static starter *starter_of(uint64_t at, uint8_t value)
{
	if (at == SSFC_LOW && value & LOW_GO)
		return start_software;
	return at == ICH9_HSFC_LOW && value & HSFC_GO ? start_hardware : NULL;
}

static void write_spi(struct bus *bus, const struct front_access *access, uint64_t value)
{
	starter *start = NULL;

	update_registers(bus, access->now_ns);
	for (unsigned int i = 0; i < access->size_bytes && access->offset + i < SPI_BYTES; i++) {
		const uint64_t at = access->offset + i;
		const uint8_t byte = (uint8_t)(value >> 8 * i);

		if (!start && !ich9_of(bus)->in_progress)
			start = starter_of(at, byte);
		write_byte(ich9_of(bus), at, byte);
	}
	if (start)
		start(bus, access->now_ns);
}

static uint8_t read_byte(struct bus *bus, uint64_t at)
{
	const struct ich9 *ich9 = ich9_of(bus);
	uint8_t value = ich9->bytes[at];

	value |= ich9_hardware_fact(bus->chip.part, ich9->bytes, at);
	if (at == SSFS && ich9->in_progress)
		value |= STATUS_IN_PROGRESS;
	if (at == ICH9_HSFS && ich9->in_progress)
		value |= HSFS_IN_PROGRESS;
	return value;
}

static uint64_t read_spi(struct bus *bus, const struct front_access *access)
{
	uint64_t value = 0;

	if (!bus)
		return 0;
	update_registers(bus, access->now_ns);
	for (unsigned int i = 0; i < access->size_bytes && access->offset + i < SPI_BYTES; i++)
		value |= (uint64_t)read_byte(bus, access->offset + i) << 8 * i;
	return value;
}

static uint64_t read_straps(struct bus *bus, const struct front_access *access)
{
	(void)bus;
	return front_part_of(access, GCS_BOOT_FROM_SPI);
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
	},
};

const struct front ich9_front = {
	.name = "ich9",
	.windows = windows,
	.window_count = sizeof(windows) / sizeof(windows[0]),
};
