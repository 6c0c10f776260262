/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory cycles. Writes go into the device's operation buffer, which it executes without a pause:
 * neighbouring bytes become one O_WRITEN, all others an O_WRITEB each.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "serprog_device.h"

#define U24_LIMIT (UINT32_C(1) << 24)

#define ADDRESS_BYTES 3
#define LENGTH_BYTES 3

/* The sizes of operations in the operation buffer, from the protocol. */
#define OPBUF_WRITEB_BYTES 5
#define OPBUF_WRITEN_BYTES 7 /* and the bytes written */

/* The assumed size for a device without Q_OPBUF: enough for a page of 256 bytes and its command. */
#define OPBUF_BYTES_UNKNOWN 300

/* The write cycles of the command that precedes the bytes of a page. */
#define COMMAND_WRITES 3

bool serprog_has_memory(const struct serprog *serprog)
{
	static const uint8_t needed[] = {S_CMD_O_INIT, S_CMD_O_WRITEB, S_CMD_O_EXEC};

	for (size_t i = 0; i < sizeof(needed); i++) {
		if (!serprog_offers(serprog, needed[i]))
			return false;
	}
	return serprog_offers(serprog, S_CMD_R_BYTE) || serprog_offers(serprog, S_CMD_R_NBYTES);
}

static size_t opbuf_cost(size_t run_bytes)
{
	return run_bytes == 1 ? OPBUF_WRITEB_BYTES : OPBUF_WRITEN_BYTES + run_bytes;
}

/* Returns the longest run of neighbours whose operation takes at most `opbuf_bytes`. */
static size_t run_within(size_t opbuf_bytes)
{
	if (opbuf_bytes < opbuf_cost(2))
		return opbuf_bytes < opbuf_cost(1) ? 0 : 1;
	return opbuf_bytes - OPBUF_WRITEN_BYTES;
}

/* Returns how many neighbouring bytes fit into the operation buffer together with a command. */
static size_t burst_bytes(const struct serprog_opbuf *opbuf)
{
	const size_t run_cost = opbuf_cost(opbuf->run_bytes_max);
	const size_t command_cost = COMMAND_WRITES * opbuf_cost(1);
	size_t left;

	if (opbuf->bytes_max < command_cost + opbuf_cost(1))
		return 1;
	left = opbuf->bytes_max - command_cost;
	return left / run_cost * opbuf->run_bytes_max + run_within(left % run_cost);
}

/* Sets the longest run: that of one O_WRITEN, or one byte if the device lacks that command. */
static int read_run_limit(struct serprog *serprog)
{
	struct serprog_opbuf *opbuf = &serprog->opbuf;

	opbuf->run_bytes_max = sizeof(opbuf->run);
	if (!serprog_offers(serprog, S_CMD_O_WRITEN)) {
		opbuf->run_bytes_max = 1;
		return 0;
	}
	return serprog_read_size(serprog, S_CMD_Q_WRNMAXLEN, 3, U24_LIMIT, &opbuf->run_bytes_max);
}

/* Without R_NBYTES the limit is the same, since read_bytes() then sends a request per byte. */
static int read_limits(struct serprog *serprog)
{
	struct programmer *base = &serprog->base;
	struct serprog_opbuf *opbuf = &serprog->opbuf;
	int error;

	base->read_bytes_max = SERPROG_READ_BYTES_MAX;
	opbuf->bytes_max =
		serprog_offers(serprog, S_CMD_Q_OPBUF) ? UINT16_MAX : OPBUF_BYTES_UNKNOWN;
	error = serprog_read_size(
		serprog, S_CMD_Q_RDNMAXLEN, LENGTH_BYTES, U24_LIMIT, &base->read_bytes_max);
	if (error == 0)
		error = serprog_read_size(serprog, S_CMD_Q_OPBUF, 2, 0, &opbuf->bytes_max);
	if (error == 0)
		error = serprog_queue_prepare(serprog, "memory write");
	return error == 0 ? read_run_limit(serprog) : error;
}

static int init_opbuf(struct serprog *serprog)
{
	const int error = serprog_query(serprog, S_CMD_O_INIT, NULL, 0);

	serprog->opbuf.bytes = 0;
	serprog->opbuf.run_bytes = 0;
	return error == 0 ? 0 : serprog_fail(serprog, "emptying its operation buffer", error);
}

int serprog_prepare_memory(struct serprog *serprog)
{
	const int error = read_limits(serprog);

	if (error != 0)
		return error;
	if (serprog->opbuf.bytes_max < OPBUF_WRITEB_BYTES)
		return serprog_report_too_small(serprog, "buffers", serprog->opbuf.bytes_max);
	serprog->base.burst_bytes_max = burst_bytes(&serprog->opbuf);
	return init_opbuf(serprog);
}

static int push_writeb(struct serprog *serprog)
{
	const struct serprog_opbuf *opbuf = &serprog->opbuf;
	uint8_t request[1 + ADDRESS_BYTES + 1] = {S_CMD_O_WRITEB};

	serprog_put(request + 1, ADDRESS_BYTES, opbuf->run_address);
	request[1 + ADDRESS_BYTES] = opbuf->run[0];
	return serprog_queue_push(serprog, request, sizeof(request));
}

static int push_writen(struct serprog *serprog)
{
	const struct serprog_opbuf *opbuf = &serprog->opbuf;
	const size_t header_bytes = 1 + LENGTH_BYTES + ADDRESS_BYTES;
	uint8_t request[1 + LENGTH_BYTES + ADDRESS_BYTES + sizeof(opbuf->run)] = {S_CMD_O_WRITEN};

	serprog_put(request + 1, LENGTH_BYTES, (uint32_t)opbuf->run_bytes);
	serprog_put(request + 1 + LENGTH_BYTES, ADDRESS_BYTES, opbuf->run_address);
	memcpy(request + header_bytes, opbuf->run, opbuf->run_bytes);
	return serprog_queue_push(serprog, request, header_bytes + opbuf->run_bytes);
}

/* Queues the run as one request. */
static int end_run(struct serprog *serprog)
{
	struct serprog_opbuf *opbuf = &serprog->opbuf;
	int error;

	if (opbuf->run_bytes == 0)
		return 0;
	error = opbuf->run_bytes == 1 ? push_writeb(serprog) : push_writen(serprog);
	opbuf->bytes += opbuf_cost(opbuf->run_bytes);
	opbuf->run_bytes = 0;
	return error;
}

static int execute(struct serprog *serprog)
{
	const uint8_t request = S_CMD_O_EXEC;
	int error = end_run(serprog);

	if (error != 0 || serprog->opbuf.bytes == 0)
		return error;
	serprog->opbuf.bytes = 0;
	error = serprog_queue_push(serprog, &request, 1);
	return error == 0 ? serprog_queue_settle(serprog) : error;
}

static bool continues_run(const struct serprog_opbuf *opbuf, uint32_t address)
{
	return opbuf->run_bytes > 0 && opbuf->run_bytes < opbuf->run_bytes_max &&
	       address == opbuf->run_address + opbuf->run_bytes;
}

static bool has_room(const struct serprog_opbuf *opbuf)
{
	return opbuf->bytes + opbuf_cost(opbuf->run_bytes + 1) <= opbuf->bytes_max;
}

int serprog_write_byte(struct programmer *programmer, uint32_t address, uint8_t value)
{
	struct serprog *serprog = serprog_self(programmer);
	struct serprog_opbuf *opbuf = &serprog->opbuf;
	int error = 0;

	if (serprog->broken)
		return -ECONNRESET;
	if (!continues_run(opbuf, address))
		error = end_run(serprog);
	if (error == 0 && !has_room(opbuf))
		error = execute(serprog);
	if (error != 0)
		return error;
	if (opbuf->run_bytes == 0)
		opbuf->run_address = address;
	opbuf->run[opbuf->run_bytes++] = value;
	return 0;
}

int serprog_flush(struct programmer *programmer)
{
	struct serprog *serprog = serprog_self(programmer);

	return serprog->broken ? -ECONNRESET : execute(serprog);
}

static int read_one(struct serprog *serprog, uint32_t address, uint8_t *data)
{
	uint8_t request[1 + ADDRESS_BYTES] = {S_CMD_R_BYTE};

	serprog_put(request + 1, ADDRESS_BYTES, address);
	return serprog_exchange(serprog, request, sizeof(request), data, 1);
}

static int read_run(struct serprog *serprog, uint32_t address, uint8_t *data, size_t bytes)
{
	uint8_t request[1 + ADDRESS_BYTES + LENGTH_BYTES] = {S_CMD_R_NBYTES};

	serprog_put(request + 1, ADDRESS_BYTES, address);
	serprog_put(request + 1 + ADDRESS_BYTES, LENGTH_BYTES, (uint32_t)bytes);
	return serprog_exchange(serprog, request, sizeof(request), data, bytes);
}

static bool is_read_singly(const struct serprog *serprog, size_t bytes)
{
	if (!serprog_offers(serprog, S_CMD_R_NBYTES))
		return true;
	return bytes == 1 && serprog_offers(serprog, S_CMD_R_BYTE);
}

static int read_singly(struct serprog *serprog, uint32_t address, uint8_t *data, size_t bytes)
{
	int error = 0;

	for (size_t i = 0; i < bytes && error == 0; i++)
		error = read_one(serprog, address + (uint32_t)i, data + i);
	return error;
}

int serprog_read_bytes(struct programmer *programmer, uint32_t address, uint8_t *data, size_t bytes)
{
	struct serprog *serprog = serprog_self(programmer);
	int error = serprog_flush(programmer);

	assert(bytes <= programmer->read_bytes_max);
	if (error != 0)
		return error;
	if (is_read_singly(serprog, bytes))
		error = read_singly(serprog, address, data, bytes);
	else
		error = read_run(serprog, address, data, bytes);
	return error == 0 ? 0 : serprog_fail(serprog, "memory read", error);
}
