/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Each command is one message to the kernel. Source: Linux Documentation/spi/spidev. */
#include <errno.h>
#include <fcntl.h>
#include <linux/spi/spidev.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "programmers.h"

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

/* The limit of the kernel's spidev module, for each direction of a message. */
#define BUFFER "/sys/module/spidev/parameters/bufsiz"
#define BUFFER_BYTES 4096 /* the module's default */
#define BUFFER_BYTES_MIN 512
#define BUFFER_BYTES_MAX (1ul << 20)
#define CLOCK_HZ 2000000

static size_t read_buffer_bytes(void)
{
	FILE *file = fopen(BUFFER, "re");
	char text[32] = "";
	unsigned long bytes;

	if (file == NULL)
		return BUFFER_BYTES;
	bytes = fgets(text, sizeof(text), file) == NULL ? 0 : strtoul(text, NULL, 10);
	fclose(file);
	return bytes >= BUFFER_BYTES_MIN && bytes <= BUFFER_BYTES_MAX ? bytes : BUFFER_BYTES;
}

static int send(int fd, const struct spi_ioc_transfer *transfers, unsigned int count)
{
	const unsigned long request = count == 1 ? SPI_IOC_MESSAGE(1) : SPI_IOC_MESSAGE(2);

	return ioctl(fd, request, transfers) < 0 ? -errno : 0;
}

static void close_device(int fd)
{
	close(fd);
}

static int set_mode(int fd)
{
	const uint8_t mode = SPI_MODE_0;
	const uint8_t bits = 8;
	const uint32_t clock_hz = CLOCK_HZ;

	if (ioctl(fd, SPI_IOC_WR_MODE, &mode) < 0 ||
		ioctl(fd, SPI_IOC_WR_BITS_PER_WORD, &bits) < 0 ||
		ioctl(fd, SPI_IOC_WR_MAX_SPEED_HZ, &clock_hz) < 0)
		return -errno;
	return 0;
}

static int open_device(const char *path, int *fd)
{
	int error;

	*fd = open(path, O_RDWR | O_CLOEXEC);
	if (*fd < 0)
		return -errno;
	error = set_mode(*fd);
	if (error != 0)
		close(*fd);
	return error;
}

static int attach_device(const char *path, const struct log *log, struct programmer **out)
{
	struct linux_spi_device device = {
		.bytes_max = read_buffer_bytes(), .send = send, .close = close_device};
	int error;

	if (path == NULL) {
		log_error(log, "linux_spi: which device? linux_spi:dev=/dev/spidevBUS.SELECT\n");
		return -EINVAL;
	}
	error = open_device(path, &device.fd);
	if (error != 0) {
		log_error(log, "linux_spi: cannot use %s: %s.\n", path, strerror(-error));
		return error;
	}
	return linux_spi_attach(&device, log, out);
}

static int linux_spi_open(
	char *params, const struct clock *clock, const struct log *log, struct programmer **out)
{
	const char *path = NULL;
	const struct param known[] = {{"dev", &path}, {NULL, NULL}};
	const int error = params_parse(params, "linux_spi", known, log);

	(void)clock;
	return error == 0 ? attach_device(path, log, out) : error;
}

const struct programmer_driver linux_spi_driver = {
	.name = "linux_spi",
	.usage = "linux_spi:dev=/dev/spidevBUS.SELECT",
	.open = linux_spi_open,
};
