/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "floor.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "model/spi.h"

#define OP_STATUS_WRITE 0x01
#define OP_PAGE_PROGRAM 0x02
#define OP_READ 0x03
#define OP_STATUS_READ 0x05
#define OP_WRITE_ENABLE 0x06
#define OP_CHIP_ERASE_60 0x60
#define OP_UNLOCK 0x98
#define OP_CHIP_ERASE_C7 0xC7

#define STATUS_BUSY 0x01
#define HEADER_BYTES 4
#define ADDRESSABLE_BYTES (UINT32_C(1) << 24)

struct writer {
	struct client *client;
	const struct part *part;
	wait_fn *wait;
};

static void put_header(uint8_t *command, uint8_t opcode, uint32_t address)
{
	command[0] = opcode;
	command[1] = (uint8_t)(address >> 16);
	command[2] = (uint8_t)(address >> 8);
	command[3] = (uint8_t)address;
}

static uint32_t min_u32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static int read_region(struct client *client, const struct region *region, uint8_t *content)
{
	uint8_t command[HEADER_BYTES];
	int error = 0;

	for (uint32_t at = 0, len; !error && at < region->size_bytes; at += len) {
		len = min_u32(region->size_bytes - at, client->read_len_max);
		put_header(command, OP_READ, region->offset_bytes + at);
		error = client_transfer(client, command, sizeof(command), content + at, len);
	}
	return error;
}

static int check_ready(struct client *client)
{
	const uint8_t read_status = OP_STATUS_READ;
	uint8_t status;
	int error = client_transfer(client, &read_status, 1, &status, 1);

	return !error && status & STATUS_BUSY ? -EBUSY : error;
}

static int change(struct writer *writer, const uint8_t *command, size_t command_len,
	const struct busy_time *busy)
{
	int error = client_transfer_after(writer->client, OP_WRITE_ENABLE, command, command_len);

	if (error || !writer->wait)
		return error ? error : check_ready(writer->client);
	writer->wait(busy);
	return 0;
}

/* Some parts power up with all blocks locked. One command unlocks them. */
static int unlock(struct writer *writer)
{
	const struct part_spi *spi = writer->part->spi;
	static const uint8_t clear_status[] = {OP_STATUS_WRITE, 0};
	static const uint8_t unlock_all[] = {OP_UNLOCK};

	switch (spi->protection.kind) {
	case PROTECTION_GLOBAL:
		return change(writer, clear_status, sizeof(clear_status), &spi->write_status);
	case PROTECTION_UNLOCK:
		return change(writer, unlock_all, sizeof(unlock_all), &spi->write_status);
	default:
		return 0;
	}
}

static bool erases_chip(uint8_t opcode)
{
	return opcode == OP_CHIP_ERASE_60 || opcode == OP_CHIP_ERASE_C7;
}

/*
 * Returns the erase with the largest block that begins at @address and ends at or before @end, or
 * NULL if there is none.
 */
static const struct part_erase *choose_erase(
	const struct part *part, uint32_t address, uint32_t end, struct part_block *largest)
{
	const struct part_erase *chosen = NULL;
	struct part_block block;

	for (size_t i = 0; i < part->erase_count; i++) {
		if (!part_erase_block(&part->erases[i], address, &block))
			continue;
		part_leave_small_sectors(part, &block);
		if (block.address != address || block.size_bytes > end - address ||
			(chosen && block.size_bytes <= largest->size_bytes))
			continue;
		chosen = &part->erases[i];
		*largest = block;
	}
	return chosen;
}

static bool erases_fit(const struct part *part, const struct region *region)
{
	const uint32_t end = region->offset_bytes + region->size_bytes;
	uint32_t at = region->offset_bytes;
	struct part_block block;

	while (at < end && choose_erase(part, at, end, &block))
		at += block.size_bytes;
	return at == end;
}

/* Erases a region for which erases_fit() returns true. */
static int erase_region(struct writer *writer, const struct region *region)
{
	const uint32_t end = region->offset_bytes + region->size_bytes;
	const struct part_erase *erase;
	struct part_block block;
	uint8_t command[HEADER_BYTES];
	int error = 0;

	for (uint32_t at = region->offset_bytes; !error && at < end; at += block.size_bytes) {
		erase = choose_erase(writer->part, at, end, &block);
		put_header(command, erase->opcode, at);
		error = change(writer, command, erases_chip(erase->opcode) ? 1 : sizeof(command),
			&erase->busy);
	}
	return error;
}

static bool is_blank(const uint8_t *bytes, size_t len)
{
	while (len > 0 && *bytes == 0xFF) {
		bytes++;
		len--;
	}
	return len == 0;
}

static int program_region(
	struct writer *writer, const struct region *region, const uint8_t *content)
{
	const struct part *part = writer->part;
	uint8_t command[CLIENT_COMMAND_BYTES_MAX];
	int error = 0;

	for (uint32_t at = 0, len; !error && at < region->size_bytes; at += len) {
		const uint32_t address = region->offset_bytes + at;

		len = part->page_bytes - address % part->page_bytes;
		len = min_u32(len, region->size_bytes - at);
		if (is_blank(content + at, len))
			continue;
		put_header(command, OP_PAGE_PROGRAM, address);
		memcpy(command + HEADER_BYTES, content + at, len);
		error = change(writer, command, HEADER_BYTES + len, &part->spi->page_program);
	}
	return error;
}

/*
 * Returns true if the part is supported and the region needs three address bytes only. Parts above
 * 16 MiB power up with three address bytes, too.
 */
static bool can_write(const struct part *part, const struct region *region)
{
	return part->family == PART_SPI_NOR &&
	       region->offset_bytes + region->size_bytes <= ADDRESSABLE_BYTES &&
	       part->page_bytes <= CLIENT_COMMAND_BYTES_MAX - HEADER_BYTES;
}

int job_write(struct client *client, const struct part *part, const struct region *region,
	const uint8_t *content, wait_fn *wait)
{
	struct writer writer = {.client = client, .part = part, .wait = wait};
	uint8_t *found;
	int error;

	if (!can_write(part, region))
		return -ENOTSUP;
	if (!erases_fit(part, region))
		return -EINVAL;
	found = malloc(region->size_bytes);
	if (!found)
		return -ENOMEM;
	error = read_region(client, region, found);
	if (!error)
		error = unlock(&writer);
	if (!error)
		error = erase_region(&writer, region);
	if (!error)
		error = program_region(&writer, region, content);
	if (!error)
		error = read_region(client, region, found);
	if (!error && memcmp(found, content, region->size_bytes) != 0)
		error = -EIO;
	free(found);
	return error;
}
