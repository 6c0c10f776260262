/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef FLASH_H
#define FLASH_H

#include <stdbool.h>
#include <stdint.h>

#include "busy.h"
#include "chip.h"
#include "clock.h"
#include "driver.h"
#include "log.h"
#include "programmer.h"
#include "progress.h"
#include "range.h"

/** The bytes of protection of the part that protects its blocks in most detail. */
#define PROTECTION_BLOCK_BYTES_MAX 18

/** Write protection as it was found. */
struct protection {
	bool lifted;
	uint8_t status;
	uint8_t status_2;
	uint8_t status_3;
	uint8_t blocks[PROTECTION_BLOCK_BYTES_MAX]; /* for parts that protect blocks one by one */
};

/** The settings that the driver for parts of the 25 series has to undo. */
struct spi25_state {
	bool address_mode_entered;
	bool sectors_made_uniform;
};

/** The effect of the last write (or erase) on the part, whether it failed or not. */
enum write_state {
	WRITE_UNTOUCHED, /* nothing was erased or programmed */
	WRITE_BEGUN,     /* and it broke off in the middle */
	WRITE_DONE, /* to the end; what comes after it, such as verification, may have failed */
};

/** A part behind a programmer. `chip` is NULL until it is known; the rest is the drivers' own. */
struct flash {
	struct programmer *programmer;
	const struct clock *clock;
	const struct log *log;
	const struct flash_chip *chip;
	uint8_t bus;                     /* that the chip was found on */
	const struct progress *progress; /* NULL: nobody asks */
	enum write_state written;
	bool is_named; /* the chip was asked for by name: questions may rely on what it is */

	struct flash_chip described; /* the target of `chip` if the part described itself */
	struct spi25_state spi25;

	struct protection protection;
	uint8_t polled_value; /* the value that a driver's query waits for, or saw last */
	struct busy_history history[BUSY_OPERATIONS_MAX];
};

/** A part yet to be found behind `programmer`. */
void flash_init(struct flash *flash, struct programmer *programmer, const struct clock *clock,
	const struct log *log);

/** Let all that was sent reach the part. 0 or -errno, cause logged. */
int flash_flush(struct flash *flash);

/**
 * Let the host wait, counted from the moment at which all that was sent has reached the part. 0 or
 * -errno, cause logged.
 */
int flash_wait_us(struct flash *flash, uint32_t us);

/**
 * Let the host wait until a part whose supply came with the programmer's pins has had it for `us`.
 * Nothing is waited where it came long ago. 0 or -errno, cause logged.
 */
int flash_await_power(struct flash *flash, uint32_t us);

/** From power-up until the first command (tVSL) and until the first write (tPUW): of any SPI part.
 */
#define POWER_UP_US_MAX 5000
#define POWER_UP_WRITE_US_MAX 10000

/** The parts of a chip that an operation is about; never empty. */
struct selection {
	const struct range *ranges;
	size_t count;
};

enum verify_scope {
	VERIFY_NOTHING,
	VERIFY_SELECTED, /* the selected regions */
	VERIFY_TOUCHED,  /* and what shares an erase block with it */
};

/**
 * Find the chip behind `flash` and set `flash->chip` and `flash->bus`. `name` asks for one by name,
 * NULL takes what answers; `force` believes the name even if another ID answers. 0 or -errno,
 * cause logged: -EINVAL no such name, -ENODEV nothing (else) found, -ENOTUNIQ several.
 */
int flash_probe(
	struct flash *flash, const struct chip_list *const *lists, const char *name, bool force);

/** To be called between flash_probe() and the rest, and at the end. The latter without a chip too.
 */
int flash_open(struct flash *flash);
int flash_close(struct flash *flash);

/* `image` is always of the whole chip; only what is selected is read or written in it. */

int flash_read(struct flash *flash, struct selection selection, uint8_t *image);

/** Compares and reports the first difference: 0, -EILSEQ if there is one, or another -errno. */
int flash_verify(struct flash *flash, struct selection selection, const uint8_t *image);

/**
 * Bring what is selected to what `image` says: read, erase as little as needed, program what
 * differs, verify. What shares an erase block with it is put back. `force` goes on when write
 * protection stays. After a failure the state of the part is logged, too; see `flash->written`.
 */
int flash_write(struct flash *flash, struct selection selection, const uint8_t *image,
	enum verify_scope verify, bool force);

/** Both of the whole chip. */
struct write_images {
	const uint8_t *wanted;
	const uint8_t *held; /* the present content of the chip, which is then not read; or NULL */
};

int flash_write_over(struct flash *flash, struct selection selection,
	const struct write_images *images, enum verify_scope verify, bool force);

/** A write of nothing but blank bytes. */
int flash_erase(
	struct flash *flash, struct selection selection, enum verify_scope verify, bool force);

#endif
