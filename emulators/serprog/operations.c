/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "operations.h"

#include <errno.h>
#include <string.h>

void operations_clear(struct operations *operations)
{
	operations->len = 0;
}

int operations_append(struct operations *operations, const struct serprog_request *request)
{
	if (request->size_bytes > operations->size_bytes - operations->len)
		return -ENOSPC;
	memcpy(operations->bytes + operations->len, request->bytes, request->size_bytes);
	operations->len += request->size_bytes;
	return 0;
}

bool operations_next(
	const struct operations *operations, size_t *offset, struct serprog_request *request)
{
	static const struct serprog_limits limits = {.write_len_max = OPERATIONS_WRITE_LEN_MAX};

	if (serprog_parse(operations->bytes + *offset, operations->len - *offset, &limits,
		    request) == SERPROG_PARSE_MORE)
		return false;
	*offset += request->size_bytes;
	return true;
}
