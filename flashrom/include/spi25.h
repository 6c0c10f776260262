/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SPI25_H
#define SPI25_H

#include <stddef.h>
#include <stdint.h>

#include "flash.h"

/*
 * SPI NOR parts of the 25 series, and what other SPI drivers share with them.
 *
 * After each write, erase and program come status reads until the part is ready. No other command
 * is sent before that.
 */

extern const struct chip_driver spi25_driver;

/** Parts that protect their blocks one by one: SST26VF, and AT25DF with its sector registers. */
extern const struct chip_driver sst26_driver;
extern const struct chip_driver at25df_driver;

/**
 * SST25VF..B: parts without a page program. They program single bytes (02h), or consecutive words
 * in AAI mode (auto address increment, ADh).
 */
extern const struct chip_driver aai_driver;

/** The bit of the status register that is set in AAI mode. */
#define AAI_STATUS_MODE 0x40

/** Leaves AAI mode; harmless in a part that is not in it. The part must not be busy. */
int aai_leave(struct flash *flash);

/** RDID (9Fh): manufacturer, type and capacity (0xef4018). Wakes a part in power-down. */
extern const struct identify_method spi25_rdid;

/**
 * The longer RDID, for parts that differ only in its fifth and sixth byte: manufacturer, capacity
 * and these two (0x01180080).
 */
extern const struct identify_method spi25_rdid_extended;

/**
 * RES (ABh): the electronic signature (0x10), for parts without RDID. Any other signature than the
 * chip's counts as silence.
 */
extern const struct identify_method spi25_res;

/**
 * The first three bytes of the identification page (83h) of an SPI EEPROM: manufacturer, family and
 * density, for example 0x200012. Only parts with -D in their name have that page, and users may
 * overwrite it. SPI EEPROMs have the commands of the 25 series, but write without an erase.
 */
extern const struct identify_method eeprom_id;

/** The part's own tables (SFDP, JESD216), for a part that is in no list. */
extern const struct identify_method spi25_sfdp;
#define SPI25_SFDP_ID UINT32_C(0x50444653)

/** Returns true if a JEDEC ID is what a bus without a part shows. */
bool spi25_is_silence(uint32_t jedec_id);

/** The longest time of any part to leave power-down (tRES1, tRES2). */
#define SPI25_WAKE_US_MAX 100

/** The largest page of any part. */
#define SPI25_PAGE_BYTES_MAX 512

/** The value that is read from a bus without a part, or from a register that does not exist. */
#define SPI25_FLOATING 0xff

/** Makes one chip-select cycle. This and the functions below return 0, or -errno (logged). */
int spi_command(
	struct flash *flash, const uint8_t *tx, size_t tx_bytes, uint8_t *rx, size_t rx_bytes);

/** Sends a command that is only an opcode. */
int spi_simple_command(struct flash *flash, uint8_t opcode);

/** The same, but sent together with the next command if the programmer can do that. */
int spi_hold_command(struct flash *flash, uint8_t opcode);

/** Reads the first status register. */
int spi25_status_read(struct flash *flash, uint8_t *status);

/** Queries the busy bit of the first status register. For busy_wait(). */
int spi25_ask_ready(struct flash *flash, uint32_t address, bool *ready);

/**
 * Sends write enable and the command, and waits for its end. `what` names it in messages ("an
 * erase"). Returns -EIO (logged) if the part reports a failure.
 */
int spi25_busy_command(struct flash *flash, const uint8_t *tx, size_t tx_bytes,
	const struct busy_time *busy, const char *what);

/** The largest number of bytes of an opcode with its address. */
#define SPI25_HEADER_BYTES_MAX 5

/** Return that number for a part. spi25_header() also puts these bytes into `tx`. */
size_t spi25_header_bytes(const struct flash_chip *chip);
size_t spi25_header(const struct flash_chip *chip, uint8_t *tx, uint8_t opcode, uint32_t address);

/** The operations of spi25_driver, for drivers of parts that differ only in their protection. */
int spi25_open(struct flash *flash);
int spi25_close(struct flash *flash);
int spi25_read(struct flash *flash, uint32_t address, uint8_t *data, size_t bytes);
int spi25_program(struct flash *flash, uint32_t address, const uint8_t *data, size_t bytes);
int spi25_erase(struct flash *flash, const struct chip_erase *erase, uint32_t address);
int spi25_unprotect(struct flash *flash, bool force);
int spi25_reprotect(struct flash *flash);

/** All status registers with protection bits. */
struct spi25_status {
	uint8_t first;
	uint8_t second;
	uint8_t third;
};

int spi25_status_read_all(struct flash *flash, struct spi25_status *status);

/**
 * Changes `before` to `after`. Does not write a register that stays the same. Protection and other
 * non-volatile bits have taken effect when this returns.
 */
int spi25_status_write_all(
	struct flash *flash, const struct spi25_status *before, const struct spi25_status *after);

/** Sets `set` if one of `bits` is set. If no such register answers, `set` and `known` are false. */
int spi25_bits_read(struct flash *flash, struct spi25_bits bits, bool *set, bool *known);

/** Clears the failure of an earlier operation. */
int spi25_clear_failed(struct flash *flash);

/** Logs that protection could not be lifted. Returns -EPERM, or 0 with `force`. */
int spi25_report_protected(const struct flash *flash, bool force);

/*
 * Atmel's DataFlash, AT45DB. Its pages have 264, 528 or 1056 bytes; a part may have been set to
 * pages of 256, 512 or 1024. In images pages follow each other without gaps; in commands each page
 * begins at a multiple of a power of two.
 */

extern const struct chip_driver dataflash_driver;

#define DATAFLASH_PAGE_BYTES_MAX 1056

/**
 * RDID (9Fh), and the page size from the status register. It first waits for the end of an
 * operation that an earlier session left running.
 */
extern const struct identify_method dataflash_id;

#endif
