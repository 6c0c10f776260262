/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fake_memory.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SPACE_BYTES (1 << 24)

static int fake_read_bytes(
	struct programmer *programmer, uint32_t address, uint8_t *data, size_t bytes)
{
	struct fake_memory *fake = (struct fake_memory *)programmer;

	assert(address + bytes <= SPACE_BYTES);
	if (++fake->reads == fake->fail_read)
		return -EIO;
	if (bytes > fake->read_bytes_seen_max)
		fake->read_bytes_seen_max = bytes;
	memcpy(data, fake->bytes + address, bytes);
	return 0;
}

static int fake_write_byte(struct programmer *programmer, uint32_t address, uint8_t value)
{
	struct fake_memory *fake = (struct fake_memory *)programmer;

	assert(fake->write_count < FAKE_MEMORY_WRITES_MAX);
	fake->writes[fake->write_count].address = address;
	fake->writes[fake->write_count].value = value;
	fake->writes[fake->write_count].now_ns = fake->now_ns;
	fake->write_count++;
	return 0;
}

static int fake_flush(struct programmer *programmer)
{
	(void)programmer;
	return 0;
}

static const struct programmer_ops fake_ops = {
	.read_bytes = fake_read_bytes,
	.write_byte = fake_write_byte,
	.flush = fake_flush,
};

static uint64_t fake_now_ns(void *context)
{
	return ((struct fake_memory *)context)->now_ns;
}

static void fake_delay_us(void *context, unsigned int us)
{
	((struct fake_memory *)context)->now_ns += us * NS_PER_US;
}

void fake_memory_init(struct fake_memory *fake)
{
	*fake = (struct fake_memory){
		.base = {.name = "fake", .ops = &fake_ops, .read_bytes_max = 65536},
		.clock = {fake_now_ns, fake_delay_us, fake},
		.bytes = malloc(SPACE_BYTES),
	};
	assert(fake->bytes != NULL);
	memset(fake->bytes, 0xff, SPACE_BYTES);
}

void fake_memory_deinit(struct fake_memory *fake)
{
	free(fake->bytes);
}
