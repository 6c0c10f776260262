/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The facts of a flash part, as constants. gen/ generates the table behind it from chips/. Facts of
 * only one kind of part are in that kind's own header.
 */
#ifndef EMULATORS_MODEL_PART_H
#define EMULATORS_MODEL_PART_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How certain a figure is, from the strongest grade to the weakest. */
enum grade {
	GRADE_DATASHEET,
	GRADE_SECONDARY,
	GRADE_ASSUMED,
};

/* A time and its grade, so that a verdict can tell a datasheet figure from an assumed one. */
struct figure {
	uint64_t ns;
	enum grade grade;
};

/* The time for which one kind of work keeps a part busy. All zeros: the part has no such work. */
struct busy_time {
	struct figure min;
	struct figure typ;
	struct figure max;
};

static inline const char *grade_name(enum grade grade)
{
	static const char *const names[] = {
		[GRADE_DATASHEET] = "datasheet",
		[GRADE_SECONDARY] = "secondary",
		[GRADE_ASSUMED] = "assumed",
	};

	assert((size_t)grade < sizeof(names) / sizeof(names[0]));
	return names[grade];
}

/* Returns the weaker of two grades. */
static inline enum grade grade_weaker(enum grade a, enum grade b)
{
	return a > b ? a : b;
}

#define PART_ERASES_MAX 10
#define PART_REGIONS_MAX 6

enum part_family {
	PART_SPI_NOR,
	PART_SPI_AAI,
	PART_SPI_EEPROM,
	PART_SPI_DATAFLASH,
	PART_JEDEC_BYTE,
	PART_JEDEC_PAGE,
	PART_FWH,
};

/* Blocks of unequal sizes, from address 0 on. */
struct part_region {
	uint32_t block_count;
	uint32_t block_bytes;
};

struct part_block {
	uint32_t address;
	uint32_t size_bytes;
	uint32_t index; /* its number among all blocks of the same table */
};

struct part_erase {
	uint8_t opcode;
	uint32_t size_bytes; /* the size of a block; of the smallest if they differ */
	struct busy_time busy;
	/* From address 0 on; empty if the whole part is blocks of the same size. */
	struct part_region regions[PART_REGIONS_MAX];
	size_t region_count;
};

struct part_spi;       /* spi.h */
struct part_dataflash; /* dataflash.h */
struct part_parallel;  /* parallel.h */

struct part {
	const char *name;
	const char *vendor;
	enum part_family family;
	uint32_t size_bytes;
	uint32_t page_bytes;
	struct part_erase erases[PART_ERASES_MAX];
	size_t erase_count;

	/* By kind; NULL where the part is of another kind. */
	const struct part_spi *spi;
	const struct part_dataflash *dataflash;
	const struct part_parallel *parallel;
};

/* The generated table, in the order of the file names. */
extern const struct part part_table[];
extern const size_t part_table_count;

/* Returns the part of that name, in upper or lower case, or NULL. */
const struct part *part_find(const char *name);

/* Returns the part whose name is spelled most like @name, never NULL. */
const struct part *part_nearest(const char *name);

/* Returns the erase of the part with that opcode, or NULL. */
const struct part_erase *part_erase_find(const struct part *part, uint8_t opcode);
bool part_has_erase(const struct part *part, uint8_t opcode);

/* Finds the block that holds @address. Returns false if the regions end below it. */
bool region_find_block(const struct part_region *regions, size_t region_count, uint32_t address,
	struct part_block *block);

/* Finds the block of this erase that holds @address. Returns false if there is none. */
bool part_erase_block(const struct part_erase *erase, uint32_t address, struct part_block *block);

/*
 * Removes the small sectors of an SPI part from a block that overlaps them, unless the block is the
 * whole part: only a chip erase erases them together with others. Applies only while the part's
 * uniform_flag is not set.
 */
void part_leave_small_sectors(const struct part *part, struct part_block *block);

/*
 * Returns the names of the part, which is one of part_table, in releases of flashrom: best first,
 * NULL at the end. The names are in a separate library (part_names_dep), because a flashrom that
 * contains the model must not contain names of parts that it does not know.
 */
const char *const *part_flashrom_names(const struct part *part);

#endif
