/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "spi_command.h"

#include <string.h>

#define HEADER_BYTES 16 /* the SFDP header and one parameter header */
#define BFPT_WORDS 9u
#define BFPT_BYTES ((size_t)4 * BFPT_WORDS)
#define TABLE_BYTES (HEADER_BYTES + BFPT_BYTES)
#define ERASE_TYPES_MAX 4

/* Reserved bits read as ones. The model has no dual, quad or DTR reads. */
#define WORD1_RESERVED 0xFF8000E0u
#define WORD1_ERASES_4K 0x01u
#define WORD1_NO_4K_ERASE 0x03u
#define WORD1_WRITES_64_BYTES 0x04u
#define WORD1_THREE_OR_FOUR_BYTES (1u << 17)
#define WORD5_NO_FAST_READS 0xFFFFFFEEu
#define WORDS67_NO_FAST_READS 0x0000FFFFu

static void put_u32(uint8_t *out, uint32_t word)
{
	for (size_t i = 0; i < 4; i++)
		out[i] = (uint8_t)(word >> 8 * i);
}

bool nor_erase_has_four_bytes(uint8_t opcode)
{
	return opcode == 0x21 || opcode == 0x53 || opcode == 0x5C || opcode == 0xDC;
}

/* Returns false for opcodes with four address bytes: later revisions list them in another table. */
static bool is_erase_type(const struct part *part, const struct part_erase *erase)
{
	return !nor_erase_has_four_bytes(erase->opcode) && erase->region_count == 0 &&
	       erase->size_bytes < part->size_bytes;
}

static uint8_t opcode_4k(const struct part *part)
{
	for (size_t i = 0; i < part->erase_count; i++) {
		if (part->erases[i].size_bytes == 4096 && is_erase_type(part, &part->erases[i]))
			return part->erases[i].opcode;
	}
	return 0xFF;
}

static uint32_t word1(const struct part *part)
{
	uint8_t opcode = opcode_4k(part);
	uint32_t word = WORD1_RESERVED | WORD1_WRITES_64_BYTES | (uint32_t)opcode << 8;

	word |= opcode == 0xFF ? WORD1_NO_4K_ERASE : WORD1_ERASES_4K;
	if (part->spi->features & SPI_HAS_FOUR_BYTE_MODE)
		word |= WORD1_THREE_OR_FOUR_BYTES;
	return word;
}

static uint8_t exponent(uint32_t size_bytes)
{
	uint8_t bits = 0;

	while (size_bytes >> bits > 1)
		bits++;
	return bits;
}

/* Words 8 and 9 hold two bytes for each erase: its size as a power of two, and its opcode. */
static void put_erase_types(const struct part *part, uint8_t *out)
{
	size_t count = 0;

	memset(out, 0, (size_t)2 * ERASE_TYPES_MAX);
	for (size_t i = 0; i < part->erase_count && count < ERASE_TYPES_MAX; i++) {
		const struct part_erase *erase = &part->erases[i];

		if (!is_erase_type(part, erase))
			continue;
		out[2 * count] = exponent(erase->size_bytes);
		out[2 * count + 1] = erase->opcode;
		count++;
	}
}

static void build(const struct part *part, uint8_t table[TABLE_BYTES])
{
	/* SFDP revision 1.0 with one parameter header: table revision 1.0, its length and place. */
	static const uint8_t header[HEADER_BYTES] = {'S', 'F', 'D', 'P', 0x00, 0x01, 0x00, 0xFF,
		0x00, 0x00, 0x01, BFPT_WORDS, HEADER_BYTES, 0x00, 0x00, 0xFF};
	uint8_t *words = table + HEADER_BYTES;

	memcpy(table, header, HEADER_BYTES);
	memset(words, 0, BFPT_BYTES);
	put_u32(words, word1(part));
	put_u32(words + 4, (uint32_t)((uint64_t)part->size_bytes * 8 - 1));
	put_u32(words + 16, WORD5_NO_FAST_READS);
	put_u32(words + 20, WORDS67_NO_FAST_READS);
	put_u32(words + 24, WORDS67_NO_FAST_READS);
	put_erase_types(part, words + 28);
}

void sfdp_read(const struct part *part, uint32_t address, uint8_t *out, size_t len)
{
	uint8_t table[TABLE_BYTES];

	build(part, table);
	for (size_t i = 0; i < len; i++)
		out[i] = address + i < TABLE_BYTES ? table[address + i] : 0xFF;
}
