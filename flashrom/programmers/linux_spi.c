/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Each command is one message to the kernel. Source: Linux Documentation/spi/spidev. */
#include <errno.h>
#include <linux/spi/spidev.h>
#include <stdlib.h>
#include <string.h>

#include "linux_spi.h"

struct linux_spi {
	struct programmer base;
	struct linux_spi_device device;
	const struct log *log;
};

static struct linux_spi *linux_spi_self(struct programmer *programmer)
{
	return (struct linux_spi *)programmer;
}

static int send_command(struct programmer *programmer, const uint8_t *tx, size_t tx_bytes,
	uint8_t *rx, size_t rx_bytes)
{
	const struct linux_spi *self = linux_spi_self(programmer);
	const struct spi_ioc_transfer transfers[] = {
		{.tx_buf = (uintptr_t)tx, .len = (uint32_t)tx_bytes},
		{.rx_buf = (uintptr_t)rx, .len = (uint32_t)rx_bytes},
	};
	const int error = self->device.send(self->device.fd, transfers, rx_bytes == 0 ? 1 : 2);

	if (error != 0)
		log_error(self->log, "linux_spi: the kernel refuses a command: %s.\n",
			strerror(-error));
	return error;
}

static void destroy(struct programmer *programmer)
{
	struct linux_spi *self = linux_spi_self(programmer);

	self->device.close(self->device.fd);
	free(self);
}

static const struct programmer_ops ops = {
	.spi_command = send_command,
	.destroy = destroy,
};

int linux_spi_attach(
	const struct linux_spi_device *device, const struct log *log, struct programmer **out)
{
	struct linux_spi *self = calloc(1, sizeof(*self));

	if (self == NULL) {
		device->close(device->fd);
		return -ENOMEM;
	}
	self->device = *device;
	self->log = log;
	self->base = (struct programmer){
		.name = "linux_spi",
		.ops = &ops,
		.buses = BUS_SPI,
		.write_bytes_max = device->bytes_max,
		.read_bytes_max = device->bytes_max,
	};
	*out = &self->base;
	return 0;
}
