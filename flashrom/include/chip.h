/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CHIP_H
#define CHIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bus.h"
#include "range.h"

struct chip_driver;
struct identify_method;

/** The size of the largest supported part. */
#define CHIP_BYTES_MAX (UINT32_C(64) << 20)

/** The time for which an operation keeps a part busy, from the datasheet's AC characteristics. */
struct busy_time {
	uint32_t typ_us;
	uint32_t max_us;
};

/** Some neighbouring erase blocks of one size; a list of them ends with a count of 0. */
struct erase_run {
	uint32_t block_bytes;
	uint32_t count;
};

/**
 * One erase command. A chip lists its commands by rising block size; each block consists of whole
 * blocks of the previous command.
 */
struct chip_erase {
	uint8_t opcode;
	uint32_t block_bytes;         /* the size of all blocks, or of the largest */
	struct busy_time busy;        /* for one block */
	const struct erase_run *runs; /* from address 0 on; NULL: all blocks have block_bytes */
};

#define CHIP_ERASES_MAX 5

/** Bits of a register that show a state of a part of the 25 series. */
struct spi25_bits {
	uint8_t opcode; /* reads the register; 0: the part has no such bits */
	uint8_t mask;
};

/** How a part of the 25 series takes addresses. */
enum spi25_addresses {
	SPI25_ADDRESS_3, /* three bytes */
	/* Four bytes, with dedicated opcodes: 13h, 12h and those of the listed erases */
	SPI25_ADDRESS_4_OPCODES,
	SPI25_ADDRESS_4_MODE,   /* four bytes while in the mode between B7h and E9h */
	SPI25_ADDRESS_4_ALWAYS, /* four bytes with the usual commands */
};

/** A bit of a register that 65h reads and 71h writes by its address. */
struct spi25_addressed_bit {
	uint32_t address;
	uint8_t mask; /* 0: the part has no such bit */
};

enum spi25_reset {
	SPI25_RESET_NONE,
	SPI25_RESET_66_99,
	SPI25_RESET_F0,
};

/** The traits of SPI NOR parts of the 25 series only. */
struct spi25_traits {
	struct busy_time status_write;
	/*
	 * The time from the release from power-down until the next command; 0: the part has no
	 * power-down. Drivers wait SPI25_WAKE_US_MAX instead, since they wake a part before they
	 * know it; a test compares the two.
	 */
	uint32_t wake_us_max;

	/* Protection bits of the status registers: 05h, 35h and 15h read them. */
	uint8_t protect_mask;
	uint8_t protect_mask_2;
	uint8_t protect_mask_3; /* that register is written with 11h */
	/* How the second register is written. Both are set if revisions of one ID differ. */
	bool status_two_bytes;     /* together with the first: writing one byte may clear it */
	bool status_2_apart;       /* by itself, with 31h */
	bool status_write_enable2; /* 50h instead of 06h comes before a status register write */

	enum spi25_addresses addresses;
	bool mode_write_enable;         /* B7h and E9h have to follow a write enable */
	struct spi25_bits address_mode; /* set in the mode for addresses of four bytes */

	/* While it is set, there are no small sectors, and each erase takes its whole block */
	struct spi25_addressed_bit uniform_sectors;

	/* The bits that show a suspended erase or program, and ways to end the suspension. */
	struct spi25_bits suspended;
	uint8_t resume_opcode;
	enum spi25_reset reset;
	uint32_t reset_us_max; /* from a reset until the next command, also during an erase */

	/* The bits that show a failed erase or program; the command that clears them, or 0. */
	struct spi25_bits failed;
	uint8_t clear_failed_opcode;
	bool busy_after_failure; /* the part stays busy until the failure is cleared */

	/* The number of dies, each with its own busy bit; 0: a single die. */
	uint8_t dies;
};

/** The traits of parts with JEDEC commands only. */
struct jedec_traits {
	/* tIDA: the time to enter or leave ID mode. It cannot be polled. */
	uint32_t id_wait_us;
	bool id_six_bytes; /* 80h, then 60h, instead of 90h */
};

/** The drivers' facts about a part. */
struct flash_chip {
	const char *vendor;
	const char *name;
	uint8_t buses;
	const struct identify_method *identify;
	uint32_t id; /* as `identify` reports it, for example 0xef4018 for RDID */
	const struct chip_driver *driver;
	uint32_t size_bytes;
	/* The most bytes of one `program` call, which must not cross a page */
	uint32_t page_bytes;
	/* The number of bytes that are programmed in the time `program`; 0: a whole page */
	uint32_t program_unit_bytes;
	struct busy_time program;
	bool overwrites;  /* a program needs no erase before it */
	bool whole_pages; /* a program of part of a page loses the rest */
	bool blank_only;  /* a program can only change units that are erased */
	struct chip_erase erase[CHIP_ERASES_MAX]; /* unused ones have block_bytes 0 */
	union {
		struct spi25_traits spi25;
		struct jedec_traits jedec;
	};
};

/** The parts of one vendor. */
struct chip_list {
	const struct flash_chip *chips;
	size_t count;
};

/** The built-in lists, ended by NULL, as is any `lists` below. */
extern const struct chip_list *const chip_lists[];

/** Returns the n-th chip of all lists, or NULL. */
const struct flash_chip *chip_at(const struct chip_list *const *lists, size_t nth);

/** Returns the number of erase commands of a chip. */
size_t chip_erase_count(const struct flash_chip *chip);

/** Returns the block of an erase command that contains `address`. */
struct range chip_erase_block(const struct chip_erase *erase, uint32_t address);

/** Returns the smallest range around `address` that can be rewritten: an erase block or a page. */
struct range chip_smallest_block(const struct flash_chip *chip, uint32_t address);

/** Returns the number of bytes that are programmed in the time `program`. */
uint32_t chip_unit_bytes(const struct flash_chip *chip);

/** Returns the typical time to program a whole page. */
uint64_t chip_page_us_typ(const struct flash_chip *chip);

/** Returns the chip of that name in `lists`, ignoring case, or NULL. */
const struct flash_chip *chip_by_name(const struct chip_list *const *lists, const char *name);

/** Returns the chip name nearest to `name`, or NULL if none is near. */
const char *chip_name_nearest(const struct chip_list *const *lists, const char *name);

#endif
