/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The messages that commands become on a spidev device. */
#include <errno.h>
#include <linux/spi/spidev.h>

#include "../cases.h"
#include "captured_log.h"
#include "programmers.h"

#define FD 42
#define BYTES_MAX 4096

static struct captured_log captured;
static const struct log test_log = {.emit = captured_emit, .sink = &captured};

static struct {
	unsigned int count;
	struct spi_ioc_transfer transfers[2];
	int answer;
	unsigned int closed;
} kernel;

struct spidev {
	struct programmer *programmer;
};

static int record_message(int fd, const struct spi_ioc_transfer *transfers, unsigned int count)
{
	assert_int_equal(fd, FD);
	kernel.count = count;
	memcpy(kernel.transfers, transfers, count * sizeof(*transfers));
	return kernel.answer;
}

static void count_close(int fd)
{
	assert_int_equal(fd, FD);
	kernel.closed++;
}

static void attach(struct spidev *spidev)
{
	const struct linux_spi_device device = {
		.fd = FD, .bytes_max = BYTES_MAX, .send = record_message, .close = count_close};

	memset(&kernel, 0, sizeof(kernel));
	assert_int_equal(linux_spi_attach(&device, &test_log, &spidev->programmer), 0);
}

static void detach(struct spidev *spidev)
{
	programmer_destroy(spidev->programmer);
	assert_int_equal(kernel.closed, 1);
}

FIXTURE(spidev, attach, detach);

static int send(struct spidev *spidev, const uint8_t *tx, uint8_t *rx, size_t rx_bytes)
{
	return spidev->programmer->ops->spi_command(spidev->programmer, tx, 1, rx, rx_bytes);
}

static void command_and_reply_are_one_message(struct spidev *spidev)
{
	const uint8_t tx[] = {0x9F};
	uint8_t rx[3];

	assert_int_equal(send(spidev, tx, rx, sizeof(rx)), 0);
	assert_int_equal(kernel.count, 2);
	assert_int_equal(kernel.transfers[0].tx_buf, (uintptr_t)tx);
	assert_int_equal(kernel.transfers[0].len, sizeof(tx));
	assert_int_equal(kernel.transfers[1].rx_buf, (uintptr_t)rx);
	assert_int_equal(kernel.transfers[1].len, sizeof(rx));
}

static void command_without_a_reply_is_a_single_transfer(struct spidev *spidev)
{
	assert_int_equal(send(spidev, (const uint8_t[]){0x06}, NULL, 0), 0);
	assert_int_equal(kernel.count, 1);
}

static void error_of_the_kernel_is_returned(struct spidev *spidev)
{
	kernel.answer = -EMSGSIZE;
	assert_int_equal(send(spidev, (const uint8_t[]){0x06}, NULL, 0), -EMSGSIZE);
}

static void limits_of_transfers_are_the_size_of_the_kernels_buffer(struct spidev *spidev)
{
	assert_int_equal(spidev->programmer->buses, BUS_SPI);
	assert_int_equal(spidev->programmer->read_bytes_max, BYTES_MAX);
	assert_int_equal(spidev->programmer->write_bytes_max, BYTES_MAX);
}

static int open_with(const char *spec)
{
	struct programmer *programmer = NULL;

	return programmer_open(spec, NULL, &test_log, &programmer);
}

static void device_must_be_named_and_be_a_spidev(void)
{
	assert_int_equal(open_with("linux_spi"), -EINVAL);
	assert_int_equal(open_with("linux_spi:speed=1"), -EINVAL);
	assert_int_equal(open_with("linux_spi:dev=/nowhere/spidev0.0"), -ENOENT);
	assert_int_equal(open_with("linux_spi:dev=/dev/null"), -ENOTTY);
}

static const struct CMUnitTest tests[] = {
	CASE_ON(spidev, command_and_reply_are_one_message),
	CASE_ON(spidev, command_without_a_reply_is_a_single_transfer),
	CASE_ON(spidev, error_of_the_kernel_is_returned),
	CASE_ON(spidev, limits_of_transfers_are_the_size_of_the_kernels_buffer),
	CASE(device_must_be_named_and_be_a_spidev),
};

RUN_CASES(tests)
