/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A spidev: the messages that commands become. */
#include <errno.h>
#include <linux/spi/spidev.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_headers.h"
#include "linux_spi.h"

#define FD 42
#define BYTES_MAX 4096

static void drop(void *sink, enum log_level level, const char *text)
{
	(void)sink;
	(void)level;
	(void)text;
}

static const struct log silent = {.emit = drop};

static struct {
	unsigned int count;
	struct spi_ioc_transfer transfers[2];
	int answer;
	unsigned int closed;
} kernel;

static int keep_message(int fd, const struct spi_ioc_transfer *transfers, unsigned int count)
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

static int attach(void **state)
{
	const struct linux_spi_device device = {
		.fd = FD, .bytes_max = BYTES_MAX, .send = keep_message, .close = count_close};
	struct programmer *programmer;
	const int error = linux_spi_attach(&device, &silent, &programmer);

	memset(&kernel, 0, sizeof(kernel));
	*state = programmer;
	return error;
}

static int detach(void **state)
{
	programmer_destroy(*state);
	return kernel.closed == 1 ? 0 : -1;
}

static void command_and_reply_are_one_message(void **state)
{
	struct programmer *programmer = *state;
	const uint8_t tx[] = {0x9F};
	uint8_t rx[3];

	assert_int_equal(
		programmer->ops->spi_command(programmer, tx, sizeof(tx), rx, sizeof(rx)), 0);
	assert_int_equal(kernel.count, 2);
	assert_int_equal(kernel.transfers[0].tx_buf, (uintptr_t)tx);
	assert_int_equal(kernel.transfers[0].len, sizeof(tx));
	assert_int_equal(kernel.transfers[1].rx_buf, (uintptr_t)rx);
	assert_int_equal(kernel.transfers[1].len, sizeof(rx));
}

static void command_without_a_reply_asks_for_none(void **state)
{
	struct programmer *programmer = *state;
	const uint8_t tx[] = {0x06};

	assert_int_equal(programmer->ops->spi_command(programmer, tx, sizeof(tx), NULL, 0), 0);
	assert_int_equal(kernel.count, 1);
}

static void refusal_of_the_kernel_is_passed_on(void **state)
{
	struct programmer *programmer = *state;
	const uint8_t tx[] = {0x06};

	kernel.answer = -EMSGSIZE;
	assert_int_equal(
		programmer->ops->spi_command(programmer, tx, sizeof(tx), NULL, 0), -EMSGSIZE);
}

static void transfers_are_no_longer_than_the_kernels_buffer(void **state)
{
	const struct programmer *programmer = *state;

	assert_int_equal(programmer->buses, BUS_SPI);
	assert_int_equal(programmer->read_bytes_max, BYTES_MAX);
	assert_int_equal(programmer->write_bytes_max, BYTES_MAX);
}

static int open_with(const char *params)
{
	struct programmer *programmer = NULL;

	return linux_spi_driver.open(params, NULL, &silent, &programmer);
}

static void device_must_be_named_and_be_a_spidev(void **state)
{
	(void)state;
	assert_int_equal(open_with(""), -EINVAL);
	assert_int_equal(open_with("speed=1"), -EINVAL);
	assert_int_equal(open_with("dev=/nowhere/spidev0.0"), -ENOENT);
	assert_int_equal(open_with("dev=/dev/null"), -ENOTTY);
}

#define TEST(name_) cmocka_unit_test_setup_teardown(name_, attach, detach)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(command_and_reply_are_one_message),
		TEST(command_without_a_reply_asks_for_none),
		TEST(refusal_of_the_kernel_is_passed_on),
		TEST(transfers_are_no_longer_than_the_kernels_buffer),
		cmocka_unit_test(device_must_be_named_and_be_a_spidev),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
