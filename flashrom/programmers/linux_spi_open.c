/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opens a spidev of Linux, and sets its mode. Source: Linux Documentation/spi/spidev. */
#include <errno.h>
#include <fcntl.h>
#include <linux/spi/spidev.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "linux_spi.h"
#include "params.h"

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
