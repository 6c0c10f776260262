/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PROGRAMMERS_H
#define PROGRAMMERS_H

#include <stdbool.h>

#include "programmer.h"

/**
 * `-p dummy:emulate=CHIP`: a part of emulators/ in this process. It enforces its busy times by the
 * same clock as flashrom's waits.
 */
extern const struct programmer_driver dummy_driver;

/** Facts from the part table of emulators/. The chip drivers do not use that table. */
struct dummy_part {
	const char *name;
	uint32_t size_bytes;
	uint32_t page_bytes;
};

/** Copies the facts of the n-th part. Returns false beyond the last. */
bool dummy_part_at(size_t nth, struct dummy_part *out);

struct dummy_options {
	const char *emulate; /* name of a part */
	const char *corner;  /* as for `--corner` of serprog-emu; NULL: typ */
	uint32_t spi_hz;     /* 0: transfers take no time */
	const char *image;   /* a file that holds the content between runs, or NULL */
	const char *events;  /* the events file to write, as emulators/ describes it, or NULL */
	const char *fault; /* KIND[:US]@WHEN, several with +, as emulators/ describes it, or NULL */
	uint64_t seed;     /* the seed of faults by probability */
};

/** Creates a programmer with that part. Returns 0, -ENOMEM, or another -errno (logged). */
int dummy_create(const struct dummy_options *options, const struct clock *clock,
	const struct log *log, struct programmer **out);

/** Write and read the whole content directly, without commands. */
void dummy_content_write(struct programmer *programmer, const uint8_t *data);
void dummy_content_read(struct programmer *programmer, uint8_t *data);

/** Returns the number of commands that the part ignored, as too early or otherwise wrong. */
unsigned int dummy_violations(const struct programmer *programmer);

struct spi_ioc_transfer;

/** `-p linux_spi:dev=/dev/spidevBUS.SELECT`: an SPI bus that the Linux kernel drives. */
extern const struct programmer_driver linux_spi_driver;

/** An open device. */
struct linux_spi_device {
	int fd;
	/** The most bytes of one direction that the kernel takes at once. */
	size_t bytes_max;
	/** Sends `count` transfers within one chip select. Returns 0 or -errno. */
	int (*send)(int fd, const struct spi_ioc_transfer *transfers, unsigned int count);
	/** Closes the device. */
	void (*close)(int fd);
};

/** Creates a programmer that owns `device`; a failure closes it. Returns 0 or -ENOMEM. */
int linux_spi_attach(
	const struct linux_spi_device *device, const struct log *log, struct programmer **out);

/** `-p nicintel`: a parallel boot ROM on a network card with an Intel 8255x controller. */
extern const struct programmer_driver nicintel_driver;

/** The size of the window through which the card shows the part. */
#define NICINTEL_WINDOW_BYTES (UINT32_C(128) << 10)

/** The registers of a card, as physical addresses. */
struct nicintel_card {
	uint64_t control;
	uint64_t flash;
};

/** The registers, mapped. */
struct nicintel_registers {
	volatile uint8_t *control;
	volatile uint8_t *flash;
	void (*unmap)(const struct nicintel_registers *registers);
};

/**
 * Finds the first such card, in order of names, below `devices` ("/sys/bus/pci/devices"). Returns 0
 * or -ENODEV, and logs nothing.
 */
int nicintel_find(const char *devices, struct nicintel_card *card);

/** Creates a programmer that owns `registers`; a failure unmaps them. Returns 0 or -ENOMEM. */
int nicintel_attach(const struct nicintel_registers *registers, struct programmer **out);

/** `-p nicintel_spi`: the SPI boot ROM of a network card with an Intel 82574L. */
extern const struct programmer_driver nicintel_spi_driver;

/** Access to the card's registers of 32 bits, by their offset. */
struct nicintel_spi_registers {
	uint32_t (*read)(void *context, size_t at);
	void (*write)(void *context, size_t at, uint32_t value);
	void (*unmap)(void *context);
	void *context;
};

/** Creates a programmer that owns `registers`; a failure unmaps them. Returns 0 or -ENOMEM. */
int nicintel_spi_attach(const struct nicintel_spi_registers *registers, const struct clock *clock,
	const struct log *log, struct programmer **out);

/** `-p serprog:ip=HOST:PORT` and `-p serprog:dev=PATH[:BAUD]`, both with `,spispeed=HZ,cs=N`. */
extern const struct programmer_driver serprog_driver;

struct serprog_options {
	uint32_t spi_hz;      /* 0: the device keeps its own */
	bool has_chip_select; /* else the device keeps its own */
	uint8_t chip_select;
	uint32_t quiet_ms;       /* silence that ends the answers to the NOPs */
	uint32_t sync_ms_max;    /* for the whole synchronisation */
	uint32_t silence_ms_max; /* until a device counts as dead */
};

/**
 * Creates a serprog programmer that owns the non-blocking stream `fd`; a failure closes it. `peer`
 * is the device's name in messages. A bus must be selected before anything else. Returns 0,
 * -ENOMEM, or another -errno (logged).
 */
int serprog_attach(int fd, const char *peer, const struct serprog_options *options,
	const struct clock *clock, const struct log *log, struct programmer **out);

#endif
