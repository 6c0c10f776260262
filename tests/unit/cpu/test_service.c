/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stddef.h>

#include "../run_cases.h"
#include "cpu_plugin/service.h"

void *__wrap_calloc(size_t count, size_t bytes);

/* Fails, as without memory. */
void *__wrap_calloc(size_t count, size_t bytes)
{
	(void)count;
	(void)bytes;
	return NULL;
}

TEST(service_without_memory_says_so)
{
	const struct trace_host host = {.vcpus = 1};
	struct options options = {0};
	struct service *service;
	char error[OPTIONS_ERROR_BYTES] = "";

	assert_int_equal(service_create(&service, NULL, &host, &options, 0, error), -ENOMEM);
	assert_string_equal(error, "no memory");
}
