/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <assert.h>

#include "fake_peer_memory.h"

void fake_peer_memory_init(struct fake_peer_memory *memory)
{
	*memory = (struct fake_peer_memory){.opbuf_bytes_max = 1024};
	for (size_t i = 0; i < FAKE_MEMORY_BYTES; i++)
		memory->bytes[i] = (uint8_t)(i ^ i >> 8);
}

void fake_peer_memory_clear(struct fake_peer_memory *memory)
{
	memory->opbuf_bytes = 0;
	memory->write_count = memory->executed_count;
}

/* A single byte must come as O_WRITEB: the client has no reason to use O_WRITEN for it. */
void fake_peer_memory_write(
	struct fake_peer_memory *memory, uint32_t address, const uint8_t *data, size_t bytes)
{
	memory->opbuf_bytes += bytes == 1 ? 5 : 7 + bytes;
	memory->overflows += memory->opbuf_bytes > memory->opbuf_bytes_max;
	memory->too_long += memory->writen_bytes_max != 0 && bytes > memory->writen_bytes_max;
	assert(memory->write_count + bytes <= FAKE_WRITES_MAX);
	for (size_t i = 0; i < bytes; i++)
		memory->writes[memory->write_count++] =
			(struct fake_write){address + (uint32_t)i, data[i], 0};
}

void fake_peer_memory_execute(struct fake_peer_memory *memory)
{
	memory->execs++;
	while (memory->executed_count < memory->write_count) {
		struct fake_write *write = &memory->writes[memory->executed_count++];

		write->exec = memory->execs;
		memory->bytes[write->address % FAKE_MEMORY_BYTES] = write->value;
	}
	memory->opbuf_bytes = 0;
}

uint8_t fake_peer_memory_read(struct fake_peer_memory *memory, uint32_t address)
{
	memory->reads_out_of_turn += memory->opbuf_bytes > 0;
	return memory->bytes[address % FAKE_MEMORY_BYTES];
}

bool fake_peer_memory_is_content(const struct fake_peer_memory *memory)
{
	return memory->overflows + memory->too_long + memory->reads_out_of_turn == 0;
}
