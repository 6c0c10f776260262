/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The common facts and state of parts on an SPI bus. */
#ifndef EMULATORS_MODEL_SPI_H
#define EMULATORS_MODEL_SPI_H

#include "part.h"

#define SPI_STATUS_REGISTERS_MAX 5
#define SPI_RDID_BYTES_MAX 6
#define SPI_LOCKS_MAX 544
#define PROTECTION_BITS_MAX 4
#define SPI_DIES_MAX 4

/* Features that some parts have and others lack. */
enum spi_feature {
	SPI_HAS_FOUR_BYTE_MODE = 1 << 0,    /* B7h and E9h */
	SPI_HAS_FOUR_BYTE_OPCODES = 1 << 1, /* 13h, 0Ch and 12h; for erases see part.erases */
	SPI_HAS_EXTENDED_ADDRESS = 1 << 2,  /* C5h and C8h: the fourth address byte */
	/* A25, A24 and EXTADD: 16h reads them; 17h writes them, and so does 01h after B9h. */
	SPI_HAS_BANK_REGISTER = 1 << 3,
	SPI_HAS_FLAG_STATUS = 1 << 4,     /* 70h, cleared by 50h */
	SPI_HAS_ERROR_BITS = 1 << 5,      /* P_ERR and E_ERR hold the part busy until 30h */
	SPI_HAS_VOLATILE_STATUS = 1 << 6, /* 01h after 50h takes no time; power-up undoes it */
	SPI_HAS_SFDP = 1 << 7,            /* 5Ah */
	SPI_HAS_RESET_F0 = 1 << 8,        /* F0h alone resets */
	SPI_HAS_ANY_REGISTER = 1 << 9,    /* 65h and 71h: registers by their addresses */
};

/* The bits of a flag in status register @index; mask 0: the part has no such flag. */
struct part_flag {
	uint8_t index;
	uint8_t mask;
};

enum protection_kind {
	PROTECTION_NONE,
	PROTECTION_ANY,    /* any block protection bit protects all, since no range is known */
	PROTECTION_RANGES, /* the bits form a number, see unit_bytes */
	PROTECTION_GLOBAL, /* only locks; a status register write sets or clears them all */
	PROTECTION_UNLOCK, /* only locks; 98h clears them all */
};

struct part_protection {
	enum protection_kind kind;
	/* The bits in the first status register, the least significant first. */
	uint8_t bits[PROTECTION_BITS_MAX];
	size_t bit_count;
	/* The protected bytes for the number 1; each higher number protects twice as much. */
	uint32_t unit_bytes;
	struct part_flag bottom;     /* set: the range is at address 0, not at the end */
	struct part_flag sectors;    /* the unit is 4 KiB, up to 32 KiB; all bits set protect all */
	struct part_flag complement; /* set: all other bytes are protected instead */
	/* The blocks, which have one lock each; empty: the part has no locks. */
	struct part_region lock_regions[PART_REGIONS_MAX];
	size_t lock_region_count;
	struct part_flag locks_flag; /* set: the locks protect, not the ranges; mask 0: always */
};

struct part_status_register {
	uint8_t read_opcode;  /* 0: readable only by its address */
	uint8_t write_opcode; /* 0: only as a further data byte of 01h, or by its address */
	uint8_t writable_mask;
	uint8_t delivered; /* its value in a new part, and after power-up if it is volatile */
	uint8_t address;   /* the address of its stored copy, for 65h and 71h */
};

/* WEL is cleared at some time during the work, before WIP is. */
struct part_early_wel {
	bool known; /* true: the part does this; false: both are cleared together */
	enum grade grade;
};

/* Dies that divide the addresses between them; each has its own status. */
struct part_dies {
	uint8_t count;       /* 0: the part is one die */
	bool by_chip_select; /* the dies are separate parts, and the controller chooses one */
	enum grade grade;
};

/* Opcode 0: the part cannot suspend. */
struct part_suspend {
	uint8_t opcode;
	uint8_t resume_opcode;
	bool programs; /* it can suspend programs, too */
	/* The flags that show a suspension; mask 0: no register of the model does. */
	struct part_flag erase_flag;
	struct part_flag program_flag;
};

/* A figure of 0 ns: the part lacks the command. */
struct part_spi {
	uint32_t clock_hz_max;
	unsigned int features; /* bits of enum spi_feature */

	uint8_t rdid[SPI_RDID_BYTES_MAX];
	size_t rdid_len; /* 0: no 9Fh */
	uint8_t res;
	bool has_res;
	uint8_t rems[2];
	bool has_rems;

	struct part_status_register status[SPI_STATUS_REGISTERS_MAX];
	size_t status_count;
	size_t wrsr_bytes_max;
	bool ewsr_only;    /* 06h does not open the status register, 50h does */
	uint8_t busy_mask; /* a mask of the first register */
	struct part_protection protection;
	struct part_flag four_byte_flag; /* shows the address mode; mask 0: nothing does */
	/*
	 * Set: all sectors have the same size. Clear: the small sectors (erases with regions)
	 * exist, and the erase of a large sector that overlaps them leaves them alone. Mask 0: no
	 * erase depends on another.
	 */
	struct part_flag uniform_flag;
	struct part_suspend suspend;
	struct part_early_wel early_wel;
	struct part_dies dies;

	struct busy_time page_program; /* the time of a byte or a word if a page has one byte */
	struct busy_time byte_program_first;
	struct busy_time byte_program_next;
	struct busy_time write_status;

	/* The least times that a client must wait: the same in each corner. */
	struct figure deep_power_down;
	struct figure release_power_down;
	struct figure release_power_down_with_id;
	struct figure soft_reset;
	struct figure soft_reset_during_program;
	struct figure soft_reset_during_erase;
	struct figure soft_reset_during_write_status;
	struct figure suspend_latency;
	struct figure power_up_to_select;
	struct figure power_up_to_write;
};

/* A suspended erase or program. */
struct spi_suspended {
	bool open;
	bool is_erase;
	bool is_deaf; /* a resume has no effect */
	uint32_t address;
	uint32_t size_bytes;
	struct figure left;
};

struct spi_state {
	uint8_t status[SPI_STATUS_REGISTERS_MAX]; /* without the bits that are computed */
	uint8_t status_stored[SPI_STATUS_REGISTERS_MAX];
	uint8_t status_pending[SPI_STATUS_REGISTERS_MAX];
	uint8_t stored_pending[SPI_STATUS_REGISTERS_MAX];
	bool write_enabled;
	uint64_t wel_until_ns; /* when the work clears WEL; UINT64_MAX: at its end */
	bool status_enabled;   /* 50h came before a status register write */
	bool powered_down;
	bool reset_enabled;
	uint8_t locks[SPI_LOCKS_MAX / 8]; /* a bit each, set: locked */
	bool locks_held;                  /* the locks cannot change */
	bool lock_all_pending;            /* the effect of a status register write on the locks */
	bool unlock_all_pending;

	bool four_byte_mode;
	uint8_t address_high; /* the address bits above three address bytes */
	bool bank_access;     /* B9h came just before */
	uint8_t error_bits;   /* bits of the first status register */
	uint8_t flag_errors;  /* bits of the flag status register */
	struct spi_suspended suspended;

	uint8_t die;                         /* the die whose status is read */
	bool die_ready;                      /* that die has finished, but others still work */
	uint64_t die_until_ns[SPI_DIES_MAX]; /* when each finishes; UINT64_MAX: at the work's end */

	bool aai;
	uint32_t aai_address;
};

/*
 * Returns true if these status registers protect any of [address, address + len) in a part of
 * @size_bytes. Ignores locks, which are in no register: PROTECTION_GLOBAL and _UNLOCK protect
 * nothing here.
 */
bool protection_covers(const struct part_protection *protection, uint32_t size_bytes,
	const uint8_t *status, uint32_t address, uint32_t len);

#endif
