/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LINUX_SPI_H
#define LINUX_SPI_H

#include "programmer.h"

struct spi_ioc_transfer;

/** `-p linux_spi:dev=/dev/spidevBUS.SELECT`: an SPI bus of Linux's own. */
extern const struct programmer_driver linux_spi_driver;

/** A device that is open. */
struct linux_spi_device {
	int fd;
	/** The bytes of one direction that the kernel takes at once. */
	size_t bytes_max;
	/** Sends `count` of them within one chip select. 0, or a negative errno. */
	int (*send)(int fd, const struct spi_ioc_transfer *transfers, unsigned int count);
	/** Called in the end. */
	void (*close)(int fd);
};

/** Speak to the part; the device is closed in the end, also on error. 0 or -ENOMEM. */
int linux_spi_attach(
	const struct linux_spi_device *device, const struct log *log, struct programmer **out);

#endif
