/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hardware sequencing of an Intel ICH9: a program sets an address and selects read, write or erase.
 * The controller knows the commands of the part, and waits until the part is ready.
 *
 * The controller read the descriptor when the machine was switched on. It describes one part, or
 * two of the same kind, and allows all accesses.
 *
 * Source: Intel I/O Controller Hub 9 Family Datasheet, 316972-004, "Serial Peripheral Interface
 * Memory Mapped Configuration Registers" and "Flash Descriptor".
 */
#include "ich9.h"

#include "model/spi.h"

#define HSFC_OPERATION_SHIFT 1
#define HSFC_OPERATION_MASK 3
#define HSFC_COUNT_MASK 0x3F
enum operation { READS = 0, WRITES = 2, ERASES = 3 };

#define FRAP 0x50
#define FREG0 0x54
#define FDOD 0xB4
#define LVSCC 0xC4
#define UVSCC 0xC8

#define HSFS_NO_OVERRIDE UINT32_C(0x2000) /* FDOPSS: no strap overrides the descriptor */
#define HSFS_DESCRIPTOR UINT32_C(0x4000)  /* FDV: the descriptor is valid */
#define HSFS_ERASES_SHIFT 3
#define FRAP_ALL UINT32_C(0xFFFF) /* each region may be read and written */
#define VSCC_64_BYTES UINT32_C(0x04)
#define REGIONS 5
#define REGION_UNIT_SHIFT 12
#define REGION_UNUSED UINT32_C(0x1FFF)

#define SIGNATURE UINT32_C(0x0FF0A55A)
#define MAP0 UINT32_C(0x04040003) /* component section at 30h; five regions, at 40h */
#define MAP0_TWO_PARTS UINT32_C(0x100)
#define MAP1 UINT32_C(0x00000206) /* three masters, at 60h; no straps */
#define MASTER_ALL UINT32_C(0xFFFF0000)
#define DENSITY_MAX 5
#define DENSITY_0_SHIFT 19 /* 512 KiB */

#define READ 0x03
#define PROGRAM 0x02
#define WRITE_ENABLE 0x06

/* Registers name an erase size by its index here. */
static const uint32_t erase_sizes[] = {256, 4096, 8192, 65536};
#define ERASE_SIZES (sizeof(erase_sizes) / sizeof(erase_sizes[0]))
#define USUAL_ERASE 0x20
#define USUAL_ERASE_CODE 1

struct block_erase {
	uint8_t opcode;
	uint32_t code;
};

static bool find_erase(const struct part *part, uint32_t size_bytes, uint8_t *opcode)
{
	for (size_t i = 0; i < part->erase_count; i++) {
		const struct part_erase *erase = &part->erases[i];

		if (erase->size_bytes == size_bytes && erase->region_count == 0) {
			*opcode = erase->opcode;
			return true;
		}
	}
	return false;
}

/* Returns the erase of the smallest blocks, or 20h if the part has none of these sizes. */
static struct block_erase erase_of(const struct part *part)
{
	struct block_erase erase;

	for (erase.code = 0; erase.code < ERASE_SIZES; erase.code++) {
		if (find_erase(part, erase_sizes[erase.code], &erase.opcode))
			return erase;
	}
	return (struct block_erase){.opcode = USUAL_ERASE, .code = USUAL_ERASE_CODE};
}

bool ich9_hardware_cycle(
	const struct part *part, const uint8_t *registers, struct ich9_cycle *cycle)
{
	const size_t count = (size_t)(registers[ICH9_HSFC_HIGH] & HSFC_COUNT_MASK) + 1;

	*cycle = (struct ich9_cycle){.has_address = true};
	switch (registers[ICH9_HSFC_LOW] >> HSFC_OPERATION_SHIFT & HSFC_OPERATION_MASK) {
	case READS:
		cycle->opcode = READ;
		cycle->data_bytes = count;
		return true;
	case WRITES:
		cycle->opcode = PROGRAM;
		cycle->writes = true;
		cycle->data_bytes = count;
		break;
	case ERASES:
		cycle->opcode = erase_of(part).opcode;
		break;
	default:
		return false;
	}
	cycle->has_prefix = true;
	cycle->prefix = WRITE_ENABLE;
	cycle->polls = true;
	return true;
}

/* Region 0, the descriptor, is the first 4 KiB; region 1, the machine's firmware, is the rest. */
static uint32_t region(const struct part *part, uint64_t index)
{
	const uint32_t last = (part->size_bytes - 1) >> REGION_UNIT_SHIFT;

	if (index == 0)
		return 0;
	return index == 1 ? last << 16 | 1 : REGION_UNUSED;
}

static bool has_two_parts(const struct part *part)
{
	return part->spi && part->spi->dies.by_chip_select;
}

/* Returns the size of each part as a code of three bits. */
static uint32_t densities(const struct part *part)
{
	const uint32_t size_bytes = part->size_bytes >> has_two_parts(part);
	uint32_t code = 0;

	while (code < DENSITY_MAX && UINT32_C(1) << (DENSITY_0_SHIFT + code) < size_bytes)
		code++;
	return has_two_parts(part) ? code << 3 | code : code;
}

/* Returns the double word of the descriptor that FDOC selects by section and index. */
static uint32_t descriptor(const struct part *part, const uint8_t *registers)
{
	const unsigned int selected = registers[ICH9_FDOC] | registers[ICH9_FDOC + 1] << 8U;
	const unsigned int section = selected >> 12 & 7;
	const unsigned int index = selected >> 2 & 0x3FF;
	const uint32_t map[] = {SIGNATURE, MAP0 | (has_two_parts(part) ? MAP0_TWO_PARTS : 0), MAP1};

	switch (section) {
	case 0:
		return index < sizeof(map) / sizeof(map[0]) ? map[index] : 0;
	case 1:
		return index == 0 ? densities(part) : 0;
	case 2:
		return region(part, index);
	case 3:
		return MASTER_ALL;
	default:
		return 0;
	}
}

/* Returns LVSCC or UVSCC, in which the machine's firmware describes the part. */
static uint32_t component(const struct part *part)
{
	const struct block_erase erase = erase_of(part);

	return (uint32_t)erase.opcode << 8 | VSCC_64_BYTES | erase.code;
}

/* Returns the fixed bits of the register of four bytes at @at. */
static uint32_t facts(const struct part *part, const uint8_t *registers, uint64_t at)
{
	if (at >= FREG0 && at < FREG0 + 4 * REGIONS)
		return region(part, (at - FREG0) / 4);
	switch (at) {
	case ICH9_HSFS:
		return HSFS_DESCRIPTOR | HSFS_NO_OVERRIDE |
		       erase_of(part).code << HSFS_ERASES_SHIFT;
	case FRAP:
		return FRAP_ALL;
	case FDOD:
		return descriptor(part, registers);
	case LVSCC:
	case UVSCC:
		return component(part);
	default:
		return 0;
	}
}

uint8_t ich9_hardware_fact(const struct part *part, const uint8_t *registers, uint64_t at)
{
	return (uint8_t)(facts(part, registers, at & ~UINT64_C(3)) >> 8 * (at & 3));
}
