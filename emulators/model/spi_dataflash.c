/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * AT45 DataFlash. Pages have 528 bytes, and the array stores all of them; in the configuration with
 * binary pages, a client can reach only the first 512 bytes of each. All writes go through one of
 * two SRAM buffers; while the part works with one, a client can use the other.
 */
#include "dataflash.h"

#include <string.h>

#include "spi_command.h"

#define STATUS_READY 0x80
#define STATUS_DIFFERS 0x40
#define STATUS_PROTECTION_ON 0x02
#define STATUS_BINARY_PAGES 0x01
#define DENSITY_SHIFT 2

#define NO_BUFFER (-1)

/* The target of a command. The lowest 9 or 10 bits of the address are the byte in the page. */
struct place {
	uint32_t page;
	uint32_t offset;
};

static unsigned int offset_bits(const struct chip *chip)
{
	unsigned int bits = 0;

	while (1u << bits < spi_page_bytes(chip))
		bits++;
	return bits;
}

static struct place place_of(const struct chip *chip, const struct chip_transfer *transfer)
{
	const uint8_t *bytes = transfer->command + 1;
	uint32_t address = (uint32_t)bytes[0] << 16 | (uint32_t)bytes[1] << 8 | bytes[2];
	unsigned int bits = offset_bits(chip);
	uint32_t page_count = chip->part->size_bytes / chip->part->page_bytes;

	return (struct place){
		.page = (address >> bits) % page_count,
		.offset = (address & ((1u << bits) - 1)) % spi_page_bytes(chip),
	};
}

static uint32_t page_address(const struct chip *chip, uint32_t page)
{
	return page * chip->part->page_bytes;
}

/* Returns the place of the command in the array, and sets facts->address to it. */
static struct place decode(const struct chip *chip, const struct spi_request *request)
{
	struct place place = place_of(chip, request->transfer);

	request->facts->address = page_address(chip, place.page) + place.offset;
	return place;
}

static int buffer_of(uint8_t opcode)
{
	static const uint8_t second[] = {0xD3, 0xD6, 0x87, 0x86, 0x89, 0x85, 0x55, 0x61, 0x59};

	return memchr(second, opcode, sizeof(second)) != NULL;
}

/* Returns true, and sets the rule, if the current work uses @buffer. */
static bool buffer_is_busy(struct chip *chip, int buffer, const struct spi_request *request)
{
	if (chip->pending.work == CHIP_WORK_NONE)
		return false;
	if (chip->dataflash.busy_buffer != buffer)
		return false;
	request->facts->rule =
		chip_check_debt(&chip->debt, request->transfer->start_ns, request->facts);
	return request->facts->rule != CHIP_RULE_NONE;
}

static void start(struct chip *chip, const struct spi_request *request, enum chip_work kind,
	uint32_t page, const struct busy_time *busy, int buffer)
{
	struct chip_pending work = {.work = kind, .address = page_address(chip, page)};

	chip->dataflash.busy_buffer = buffer;
	chip_start_work(chip, request->transfer->end_ns, &work, busy, request->facts);
}

/* Replies with consecutive pages; the first page follows the last one. */
static void reply_array(struct chip *chip, const struct spi_request *request)
{
	const struct chip_transfer *transfer = request->transfer;
	struct place place = decode(chip, request);
	uint32_t page_count = chip->part->size_bytes / chip->part->page_bytes;
	size_t passed = place.offset + request->replied_len;
	size_t done = 0;

	place.page = (uint32_t)((place.page + passed / spi_page_bytes(chip)) % page_count);
	place.offset = (uint32_t)(passed % spi_page_bytes(chip));

	while (done < transfer->reply_len) {
		size_t room = spi_page_bytes(chip) - place.offset;
		size_t left = transfer->reply_len - done;
		size_t len = left < room ? left : room;

		array_read(&chip->array, page_address(chip, place.page) + place.offset,
			transfer->reply + done, len);
		done += len;
		place.page = (place.page + 1) % page_count;
		place.offset = 0;
	}
}

static void reply_page(struct chip *chip, const struct spi_request *request)
{
	const struct chip_transfer *transfer = request->transfer;
	struct place place = decode(chip, request);

	for (size_t i = 0; i < transfer->reply_len; i++)
		array_read(&chip->array,
			page_address(chip, place.page) +
				(place.offset + request->replied_len + i) % spi_page_bytes(chip),
			&transfer->reply[i], 1);
}

static void reply_buffer(struct chip *chip, const struct spi_request *request)
{
	const struct chip_transfer *transfer = request->transfer;
	int buffer = buffer_of(request->facts->opcode);
	uint32_t offset = place_of(chip, transfer).offset;

	if (buffer_is_busy(chip, buffer, request))
		return;
	for (size_t i = 0; i < transfer->reply_len; i++)
		transfer->reply[i] =
			chip->dataflash.buffers[buffer][(offset + request->replied_len + i) %
							spi_page_bytes(chip)];
}

static void fill_buffer(struct chip *chip, int buffer, const struct spi_request *request)
{
	uint32_t offset = place_of(chip, request->transfer).offset;

	for (size_t i = 0; i < request->data_len; i++)
		chip->dataflash.buffers[buffer][(offset + i) % spi_page_bytes(chip)] =
			request->data[i];
}

static void run_buffer_write(struct chip *chip, const struct spi_request *request)
{
	int buffer = buffer_of(request->facts->opcode);

	if (!buffer_is_busy(chip, buffer, request))
		fill_buffer(chip, buffer, request);
}

static void program_page(struct chip *chip, const struct spi_request *request,
	const struct busy_time *busy, bool replaces)
{
	uint32_t page = decode(chip, request).page;
	uint32_t len = spi_page_bytes(chip);
	int buffer = buffer_of(request->facts->opcode);

	memcpy(chip_latch(chip, page_address(chip, page), len, replaces),
		chip->dataflash.buffers[buffer], len);
	start(chip, request, CHIP_WORK_PROGRAM, page, busy, buffer);
}

static void run_program_with_erase(struct chip *chip, const struct spi_request *request)
{
	program_page(chip, request, &chip->part->dataflash->page_program_with_erase, true);
}

static void run_program_without_erase(struct chip *chip, const struct spi_request *request)
{
	program_page(chip, request, &chip->part->spi->page_program, false);
}

static void run_program_through(struct chip *chip, const struct spi_request *request)
{
	fill_buffer(chip, buffer_of(request->facts->opcode), request);
	run_program_with_erase(chip, request);
}

static void page_to_buffer(struct chip *chip, uint32_t page, int buffer)
{
	array_read(&chip->array, page_address(chip, page), chip->dataflash.buffers[buffer],
		spi_page_bytes(chip));
}

static void run_page_to_buffer(struct chip *chip, const struct spi_request *request)
{
	struct place place = decode(chip, request);
	int buffer = buffer_of(request->facts->opcode);

	page_to_buffer(chip, place.page, buffer);
	start(chip, request, CHIP_WORK_PAGE_READ, place.page,
		&chip->part->dataflash->page_to_buffer, buffer);
}

static void run_rewrite(struct chip *chip, const struct spi_request *request)
{
	page_to_buffer(chip, decode(chip, request).page, buffer_of(request->facts->opcode));
	run_program_with_erase(chip, request);
}

static void run_compare(struct chip *chip, const struct spi_request *request)
{
	struct place place = decode(chip, request);
	int buffer = buffer_of(request->facts->opcode);
	uint8_t page[DATAFLASH_PAGE_BYTES_MAX];

	array_read(&chip->array, page_address(chip, place.page), page, spi_page_bytes(chip));
	chip->dataflash.differs =
		memcmp(page, chip->dataflash.buffers[buffer], spi_page_bytes(chip)) != 0;
	start(chip, request, CHIP_WORK_PAGE_READ, place.page,
		&chip->part->dataflash->buffer_compare, buffer);
}

static void run_erase(struct chip *chip, const struct spi_request *request)
{
	request->facts->address = page_address(chip, place_of(chip, request->transfer).page);
	chip->dataflash.busy_buffer = NO_BUFFER;
	spi_run_erase(chip, request);
}

static bool is_sequence(const struct spi_request *request, const uint8_t expected[3])
{
	return memcmp(request->data, expected, 3) == 0;
}

static void run_chip_erase(struct chip *chip, const struct spi_request *request)
{
	static const uint8_t further[] = {0x94, 0x80, 0x9A};

	if (!is_sequence(request, further)) {
		request->facts->rule = CHIP_RULE_SEQUENCE;
		return;
	}
	chip->dataflash.busy_buffer = NO_BUFFER;
	spi_run_erase(chip, request);
}

/* Stores the one-time setting: from the next power-up on, the page size is a power of two. */
static void store_binary_pages(struct chip *chip, const struct spi_request *request)
{
	struct chip_pending work = {.work = CHIP_WORK_WRITE_STATUS};

	chip->dataflash.busy_buffer = NO_BUFFER;
	chip_start_work(chip, request->transfer->end_ns, &work, &chip->part->spi->page_program,
		request->facts);
}

static void run_configure(struct chip *chip, const struct spi_request *request)
{
	static const uint8_t binary_pages[] = {0x2A, 0x80, 0xA6};
	static const uint8_t protection_on[] = {0x2A, 0x7F, 0xA9};
	static const uint8_t protection_off[] = {0x2A, 0x7F, 0x9A};

	if (is_sequence(request, binary_pages))
		store_binary_pages(chip, request);
	else if (is_sequence(request, protection_on))
		chip->dataflash.protection_on = true;
	else if (is_sequence(request, protection_off))
		chip->dataflash.protection_on = false;
	else
		request->facts->rule = CHIP_RULE_SEQUENCE;
}

/* Replies as a new part does: no sector is protected or locked down. */
static void reply_sectors(struct chip *chip, const struct spi_request *request)
{
	(void)chip;
	spi_reply_octet(request, 0x00);
}

static uint8_t status(const struct chip *chip)
{
	const struct dataflash_state *state = &chip->dataflash;
	uint8_t bits = (uint8_t)(chip->part->dataflash->density << DENSITY_SHIFT);

	if (chip->pending.work == CHIP_WORK_NONE)
		bits |= STATUS_READY;
	if (state->differs)
		bits |= STATUS_DIFFERS;
	if (state->protection_on)
		bits |= STATUS_PROTECTION_ON;
	if (state->binary_pages)
		bits |= STATUS_BINARY_PAGES;
	return bits;
}

#define WRITES SPI_BEGINS_WRITE
#define ANY SPI_DATA_ANY

/* Opcode, name, address and dummy bytes, when, part_has, fewest and most data bytes, reply, run. */
static const struct spi_command commands[] = {
	{0x9F, "RDID", 0, 0, 0, NULL, 0, ANY, spi_reply_rdid, NULL},
	{0xD7, "RDSR", 0, 0, SPI_WHILE_BUSY, NULL, 0, ANY, spi_reply_family_status, NULL},
	{0xB9, "DP", 0, 0, 0, NULL, 0, 0, NULL, spi_run_power_down},
	{0xAB, "RDP", 0, 0, SPI_WHILE_POWERED_DOWN, NULL, 0, ANY, spi_reply_release,
		spi_run_release},
	{0x03, "READ", 3, 0, 0, NULL, 0, ANY, reply_array, NULL},
	{0x0B, "FAST_READ", 3, 1, 0, NULL, 0, ANY, reply_array, NULL},
	{0xE8, "READ_LEGACY", 3, 4, 0, NULL, 0, ANY, reply_array, NULL},
	{0xD2, "READ_PAGE", 3, 4, 0, NULL, 0, ANY, reply_page, NULL},
	{0xD1, "READ_BUF1", 3, 0, SPI_WHILE_BUSY, NULL, 0, ANY, reply_buffer, NULL},
	{0xD3, "READ_BUF2", 3, 0, SPI_WHILE_BUSY, NULL, 0, ANY, reply_buffer, NULL},
	{0xD4, "READ_BUF1", 3, 1, SPI_WHILE_BUSY, NULL, 0, ANY, reply_buffer, NULL},
	{0xD6, "READ_BUF2", 3, 1, SPI_WHILE_BUSY, NULL, 0, ANY, reply_buffer, NULL},
	{0x84, "WRITE_BUF1", 3, 0, SPI_WHILE_BUSY, NULL, 1, ANY, NULL, run_buffer_write},
	{0x87, "WRITE_BUF2", 3, 0, SPI_WHILE_BUSY, NULL, 1, ANY, NULL, run_buffer_write},
	{0x83, "BUF1_TO_PAGE_ERASE", 3, 0, WRITES, NULL, 0, 0, NULL, run_program_with_erase},
	{0x86, "BUF2_TO_PAGE_ERASE", 3, 0, WRITES, NULL, 0, 0, NULL, run_program_with_erase},
	{0x88, "BUF1_TO_PAGE", 3, 0, WRITES, NULL, 0, 0, NULL, run_program_without_erase},
	{0x89, "BUF2_TO_PAGE", 3, 0, WRITES, NULL, 0, 0, NULL, run_program_without_erase},
	{0x82, "PAGE_THROUGH_BUF1", 3, 0, WRITES, NULL, 1, ANY, NULL, run_program_through},
	{0x85, "PAGE_THROUGH_BUF2", 3, 0, WRITES, NULL, 1, ANY, NULL, run_program_through},
	{0x53, "PAGE_TO_BUF1", 3, 0, 0, NULL, 0, 0, NULL, run_page_to_buffer},
	{0x55, "PAGE_TO_BUF2", 3, 0, 0, NULL, 0, 0, NULL, run_page_to_buffer},
	{0x60, "COMPARE_BUF1", 3, 0, 0, NULL, 0, 0, NULL, run_compare},
	{0x61, "COMPARE_BUF2", 3, 0, 0, NULL, 0, 0, NULL, run_compare},
	{0x58, "REWRITE_BUF1", 3, 0, WRITES, NULL, 0, 0, NULL, run_rewrite},
	{0x59, "REWRITE_BUF2", 3, 0, WRITES, NULL, 0, 0, NULL, run_rewrite},
	{0x81, "PAGE_ERASE", 3, 0, WRITES, part_has_erase, 0, 0, NULL, run_erase},
	{0x50, "BLOCK_ERASE", 3, 0, WRITES, part_has_erase, 0, 0, NULL, run_erase},
	{0x7C, "SECTOR_ERASE", 3, 0, WRITES, part_has_erase, 0, 0, NULL, run_erase},
	{0xC7, "CHIP_ERASE", 0, 0, WRITES, part_has_erase, 3, 3, NULL, run_chip_erase},
	{0x32, "READ_PROTECTION", 3, 0, 0, NULL, 0, ANY, reply_sectors, NULL},
	{0x35, "READ_LOCKDOWN", 3, 0, 0, NULL, 0, ANY, reply_sectors, NULL},
	{0x3D, "CONFIGURE", 0, 0, WRITES, NULL, 3, 3, NULL, run_configure},
};

static void power_up(struct chip *chip, uint64_t at_ns)
{
	struct dataflash_state fresh = {
		.busy_buffer = NO_BUFFER,
		.binary_pages = chip->dataflash.binary_pages_stored,
		.binary_pages_stored = chip->dataflash.binary_pages_stored,
	};

	chip->dataflash = fresh;
	spi_power_up(chip, at_ns);
}

static void finish(struct chip *chip, bool cut_off)
{
	if (chip->pending.work == CHIP_WORK_WRITE_STATUS && !cut_off)
		chip->dataflash.binary_pages_stored = true;
	chip->dataflash.busy_buffer = NO_BUFFER;
}

const struct family family_spi_dataflash = {
	.init = spi_init,
	.power_up = power_up,
	.commands = commands,
	.command_count = sizeof(commands) / sizeof(commands[0]),
	.finish = finish,
	.status = status,
};
