/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What parts on an SPI bus have in common: what is known of one, and what one remembers.
 */
#ifndef EMULATORS_MODEL_SPI_H
#define EMULATORS_MODEL_SPI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "figure.h"

#define SPI_STATUS_REGISTERS_MAX 4
#define SPI_RDID_BYTES_MAX 5
#define SPI_PROTECT_BITS_MAX 4

struct part_status_register {
	uint8_t read_opcode;
	uint8_t write_opcode; /* 0: only reachable as a further data byte of 01h */
	uint8_t writable_mask;
	uint8_t protect_mask; /* any of these bits set protects the array */
};

struct part_spi {
	uint32_t clock_hz_max;

	uint8_t rdid[SPI_RDID_BYTES_MAX];
	size_t rdid_len;
	uint8_t res;
	uint8_t rems[2];
	bool has_rems;

	struct part_status_register status[SPI_STATUS_REGISTERS_MAX];
	size_t status_count;
	size_t wrsr_bytes_max;

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
};

struct spi_state {
	uint8_t status[SPI_STATUS_REGISTERS_MAX]; /* without the two bits below */
	uint8_t status_pending[SPI_STATUS_REGISTERS_MAX];
	bool write_enabled;
	bool powered_down;
	bool reset_enabled;
};

#endif
