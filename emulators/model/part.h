/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is known of a flash part, as constants. The table behind it is generated from chips/ by
 * gen/.
 *
 * A figure carries the grade of its source, so that a verdict can tell a datasheet's word from
 * ours.
 */
#ifndef EMULATORS_MODEL_PART_H
#define EMULATORS_MODEL_PART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PART_ERASES_MAX 8
#define PART_STATUS_REGISTERS_MAX 3

/* Ordered from the strongest to the weakest. */
enum grade {
	GRADE_DATASHEET,
	GRADE_SECONDARY,
	GRADE_UNSURE,
	GRADE_ASSUMED,
};

enum corner {
	CORNER_MIN,
	CORNER_TYP,
	CORNER_MAX,
	CORNER_COUNT,
};

enum part_family {
	PART_SPI_NOR,
};

struct figure {
	uint64_t ns;
	enum grade grade;
};

/* How long the part is busy, one figure a corner. All zero: the part has no such operation. */
struct busy_time {
	struct figure at[CORNER_COUNT];
};

struct part_erase {
	uint8_t opcode;
	uint32_t size_bytes;
	struct busy_time busy;
};

struct part_status_register {
	uint8_t read_opcode;
	uint8_t write_opcode; /* 0: only reachable as a further data byte of 01h */
	uint8_t writable_mask;
	uint8_t protect_mask; /* any of these bits set protects the array */
};

struct part {
	const char *name;
	const char *vendor;
	enum part_family family;
	uint32_t size_bytes;
	uint32_t page_bytes;
	uint32_t spi_clock_hz_max;

	uint8_t rdid[3];
	uint8_t res;
	uint8_t rems[2];
	bool has_rems;

	struct part_status_register status[PART_STATUS_REGISTERS_MAX];
	size_t status_count;
	size_t wrsr_bytes_max;

	struct part_erase erases[PART_ERASES_MAX];
	size_t erase_count;

	struct busy_time page_program;
	struct busy_time byte_program_first;
	struct busy_time byte_program_next;
	struct busy_time write_status;

	/* Waits that a host owes the part: never scaled by a corner. */
	struct figure deep_power_down;
	struct figure release_power_down;
	struct figure release_power_down_with_id;
	struct figure soft_reset; /* 0 ns: the part has no 66h/99h */
	struct figure soft_reset_during_erase;

	const char *const *flashrom_names; /* ends with NULL, best first */
};

/* The generated table, in the order of the file names. */
extern const struct part part_table[];
extern const size_t part_table_count;

/* The part of that name, upper or lower case, or NULL. */
const struct part *part_find(const char *name);

/* The part whose name is spelled most like @name, never NULL. */
const struct part *part_nearest(const char *name);

const char *grade_name(enum grade grade);
const char *corner_name(enum corner corner);

#endif
