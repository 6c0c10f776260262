/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LINUX_SPI_H
#define LINUX_SPI_H

#include "programmer.h"

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

#endif
